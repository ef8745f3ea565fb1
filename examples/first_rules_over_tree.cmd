first_rules_over_tree
# Other rules, which forget the norm.
first_rules_over_tree 'mlp -> tp'
