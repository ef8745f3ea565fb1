# What would be wrong in silence is refused. A small model in a folder, and the same cut.
python3 $DATA/../../tools/make_model model --hidden 64 --inner 96 --vocab 128; tessera shard model cut --mesh tp=2 --preset llama:tp --no-sync 2>/dev/null
# --force replaces checkpoints, and nothing else.
mkdir papers; touch papers/letter.odt papers/tax.pdf; tessera merge model papers --force; ls papers
cp -r cut mine; touch mine/thesis.tex; mkdir mine/runs; tessera gather cut mine --force; ls mine | grep -c thesis
rm -r mine/thesis.tex mine/runs; tessera merge model mine --force --no-sync 2>/dev/null; tessera verify model mine --quiet
