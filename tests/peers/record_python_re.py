#!/usr/bin/env python3
"""Asks Python's own `re` which names random patterns match.

Writes cases of eformer's schema (match_partition_rules with one rule and a rest), whose meaning of a
rule is re.search. Half of the patterns are well formed by design, the others are damaged in a few
places, so that refusals are compared as well. Needs nothing but the standard library.
"""
import argparse
import json
import random
import re
import signal
import warnings

LETTERS = "aabbckKsSiIx01_./- \n"
RARE = "éßΣσςſKİıλЖ中٣²½\t\x1c\u2028\u180e\u00a0"
WORDS = ["layers", "q_proj", "attn", "weight", "kernel", "mlp", "norm", "ab", "ba", "aa"]
CATEGORIES = ["\\d", "\\D", "\\w", "\\W", "\\s", "\\S"]
ANCHORS = ["^", "$", "\\b", "\\B", "\\A", "\\Z"]
ESCAPES = ["\\n", "\\t", "\\x41", "\\x{", "\\u00e9", "\\U0001F600", "\\0", "\\07", "\\101", "\\.", "\\/",
           "\\-", "\\a", "\\\\", "\\]", "\\é", "\\#", "\\ "]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{,2}", "{1,}", "{,}", "{0}", "{0,1}"]
# What PCRE2 or Perl would take otherwise, or Python does not know.
ALIEN = ["\\q", "\\K", "\\R", "\\h", "\\X", "\\Q", "\\E", "\\z", "\\G", "\\p{L}", "(?R)", "(?1)", "(?|a)",
         "(*UTF)", "(*F)", "[[:alpha:]]", "[[:digit:]ab]", "(?<n>a)", "\\k<n>", "\\g{1}", "(?&n)", "\\8",
         "\\9", "\\c", "a{", "{", "}", "]", "{a}", "{1", "{1,2", "(?i)", "(?P>n)", "(?P<1a>b)", "(?L)",
         "(?-i)", "(?^:a)", "(?'n'a)", "\\400", "\\777", "[z-a]", "[\\d-z]", "[a-\\d]", "(?#x)", "(?#",
         "{3,2}", "\\Z*", "^*", "(?=a)*", "**", "(?)", "(?P=n)", "(?(1)a|b)", "(?(9)a)", "(?i:a", "(?au:a)"]


class Maker:
    def __init__(self, rng):
        self.rng = rng

    def literal(self):
        rng = self.rng
        pick = rng.random()
        if pick < 0.25:
            return rng.choice(WORDS)
        if pick < 0.85:
            return re.escape(rng.choice(LETTERS)) if rng.random() < 0.9 else rng.choice(LETTERS)
        if pick < 0.93:
            return rng.choice(RARE)
        return rng.choice(ESCAPES)

    def member(self):
        rng = self.rng
        pick = rng.random()
        if pick < 0.35:
            low, high = sorted([rng.choice("abciksz0159AIKSZé"), rng.choice("abciksz0159AIKSZé")])
            return low + "-" + high
        if pick < 0.55:
            return rng.choice(CATEGORIES)
        if pick < 0.65:
            return rng.choice(ESCAPES + ["\\b"])
        if pick < 0.75:
            return rng.choice(["-", "^", "[", "|", "&", "&&", "--", "~~", ".", "(", "[:"])
        return rng.choice(LETTERS + RARE)

    def charset(self):
        rng = self.rng
        inside = "".join(self.member() for _ in range(rng.randint(1, 4)))
        return "[" + rng.choice(["", "", "^"]) + rng.choice(["", "", "", "]"]) + inside + "]"

    def group(self, depth):
        rng = self.rng
        inside = self.alternatives(depth - 1)
        pick = rng.random()
        if pick < 0.3:
            self.groups += 1
            return "(" + inside + ")"
        if pick < 0.45:
            return "(?:" + inside + ")"
        if pick < 0.52:
            self.groups += 1
            name = "n%d" % self.groups
            self.names.append(name)
            return "(?P<%s>%s)" % (name, inside)
        if pick < 0.6:
            return rng.choice(["(?=", "(?!"]) + inside + ")"
        if pick < 0.7:
            behind = self.literal() if rng.random() < 0.7 else self.sequence(0)
            return rng.choice(["(?<=", "(?<!"]) + behind + ")"
        if pick < 0.75:
            return "(?>" + inside + ")"
        if pick < 0.9:
            flags = rng.choice(["i", "-i", "s", "m", "x", "a", "u", "i-s", "im", "ai", "-x", "s-i"])
            return "(?" + flags + ":" + inside + ")"
        if pick < 0.95 and self.groups:
            return "(?(%d)%s|%s)" % (rng.randint(1, self.groups), self.sequence(depth - 1),
                                     self.sequence(depth - 1))
        return "(?#" + rng.choice(["note", "a\\)b", ""]) + ")"

    def item(self, depth):
        rng = self.rng
        pick = rng.random()
        if depth > 0 and pick < 0.28:
            return self.group(depth)
        if pick < 0.38:
            return self.charset()
        if pick < 0.46:
            return rng.choice(CATEGORIES)
        if pick < 0.55:
            return rng.choice(ANCHORS)
        if pick < 0.6:
            return "."
        if pick < 0.65 and self.groups:
            if self.names and rng.random() < 0.5:
                return "(?P=%s)" % rng.choice(self.names)
            return "\\%d" % rng.randint(1, self.groups)
        return self.literal()

    def sequence(self, depth):
        out = ""
        for _ in range(self.rng.randint(0 if self.rng.random() < 0.1 else 1, 4)):
            out += self.item(depth)
            if self.rng.random() < 0.25 and not out.endswith(tuple(ANCHORS)):
                out += self.rng.choice(QUANTIFIERS) + self.rng.choice(["", "", "", "?", "+"])
        return out

    def alternatives(self, depth):
        count = self.rng.choice([1, 1, 1, 2, 3])
        return "|".join(self.sequence(depth) for _ in range(count))

    def pattern(self):
        rng = self.rng
        self.groups, self.names = 0, []
        start = rng.choice(["(?i)", "(?x)", "(?s)", "(?m)", "(?a)", "(?im)", "(?ai)", "(?u)", "(?i)(?m)"])
        out = (start if rng.random() < 0.25 else "") + self.alternatives(3)
        if rng.random() < 0.5:
            return out
        for _ in range(rng.randint(1, 3)):
            at = rng.randint(0, len(out))
            pick = rng.random()
            if pick < 0.4:
                out = out[:at] + rng.choice(ALIEN) + out[at:]
            elif pick < 0.7:
                out = out[:at] + rng.choice("()[]{}*+?|\\^$-,:<>=!P#i1 \n") + out[at:]
            else:
                out = out[:at] + out[at + 1:]
        return out

    def name(self):
        rng = self.rng
        pool = LETTERS + (RARE if rng.random() < 0.4 else "")
        out = ""
        for _ in range(rng.randint(0, 8)):
            out += rng.choice(WORDS) if rng.random() < 0.3 else rng.choice(pool)
        return out


def names_near(maker, pattern):
    """Names made of the pattern's own letters, which match more often."""
    letters = [c for c in pattern if c.isalnum() or c in "_./ -"] or ["a"]
    return ["".join(maker.rng.choice(letters) for _ in range(maker.rng.randint(0, 10)))
            for _ in range(6)]


def comparable(pattern, name):
    """Whether letters of a name mean the same to both: not where a reference ignores case."""
    refers = re.search(r"\\[1-9]|\(\?P=", pattern) and re.search(r"\(\?[a-zA-Z-]*i", pattern)
    return not (refers and any(letter in name for letter in "ſςσΣİ\u212a"))


class TooSlow(Exception):
    pass


def stop(*_):
    raise TooSlow


def untranslated(pattern):
    """What we refuse and Python takes: listed in docs/compatibility.md."""
    return ("\\N" in pattern or re.search(r"\\u[dD][89a-fA-F]|\\U0000[dD]", pattern)
            or re.search(r"\{\d{4,}|,\d{4,}\}", pattern) or re.search(r"\(\?[a-zA-Z]*t", pattern)
            or re.search(r"\(\?\(\s*[+_\s]|\(\?\(\d*[_\s]", pattern))


REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def pieces(tree):
    """All pieces of a parsed pattern with those inside of them."""
    for op, value in tree:
        yield str(op), value
        for part in value if isinstance(value, (list, tuple)) else [value]:
            for inner in part if isinstance(part, list) else [part]:
                if isinstance(inner, re._parser.SubPattern):
                    yield from pieces(inner)


def repeats_nothing(tree):
    """Whether something that has no width is repeated, or a thing no times."""
    return any(op in REPEATS and value[1] * value[2].getwidth()[1] == 0 for op, value in pieces(tree))


def looks_behind_at_nothing(pattern):
    """A lookbehind that repeats nothing, by itself or in a group it refers to: PCRE2 cannot tell its width."""
    tree = re._parser.parse(pattern)
    behinds = [value[1] for op, value in pieces(tree) if op in ("ASSERT", "ASSERT_NOT") and value[0] < 0]
    refers = any(op.startswith("GROUPREF") for behind in behinds for op, _ in pieces(behind))
    return repeats_nothing(tree) if refers else any(map(repeats_nothing, behinds))


class Untranslated(Exception):
    pass


class Contradiction(Exception):
    pass


def search(compiled, name):
    """re.search, unless trying every place in turn says otherwise, which is Python's own fault: what it
    skips ahead by forgets flags that hold in a group only, as in (?a:\\W)."""
    found = compiled.search(name) is not None
    if found != any(compiled.match(name, at) for at in range(len(name) + 1)):
        raise Contradiction
    return found


def ask(pattern, names):
    signal.setitimer(signal.ITIMER_REAL, 0.03)
    try:
        compiled = re.compile(pattern)
        if looks_behind_at_nothing(pattern):
            raise Untranslated
        return [["hit"] if search(compiled, name) else [] for name in names], None
    except (re.error, OverflowError, ValueError) as problem:
        return None, problem
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, stop)
    maker = Maker(random.Random(options.seed))
    cases, contradictions = [], 0
    while len(cases) < options.count * 20:
        pattern = maker.pattern()
        if "\0" in pattern or untranslated(pattern):
            continue
        names = {maker.name() for _ in range(12)} | set(names_near(maker, pattern))
        names = sorted(name for name in names if comparable(pattern, name))
        try:
            specs, problem = ask(pattern, names)
        except (TooSlow, Untranslated, RecursionError):
            continue
        except (Contradiction, SystemError):
            contradictions += 1
            continue
        case = {
            "id": "re-%d" % len(cases),
            "fn": "match_partition_rules",
            "mesh": None,
            "args": {"rules": [[pattern, ["hit"]], ["", []]], "strict": False},
            "leaves": [{"path": name, "kind": "array", "shape": [4, 4], "dtype": "float32"}
                       for name in names],
        }
        if problem:
            case["error"] = {"type": "re.error", "gist": "bad_regex"}
        else:
            case["result"] = [[name, spec] for name, spec in zip(names, specs)]
        cases.append(case)
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(cases, out, ensure_ascii=False)
    if contradictions:
        print("known differences of Python: %d patterns on which it contradicts itself" % contradictions)


if __name__ == "__main__":
    main()
