"""Sentences of an agent by which something is settled, told by their build: a deed with its manner or reason, a verdict on a
way, an effect traced to its cause. What was only looked at, and what may be, settles nothing.

Each pattern below is one such build.
"""

from __future__ import annotations

import re


def _re(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE | re.DOTALL)


# Deeds that choose: to do one of these is to leave another undone. Looking, running and adding are no such thing.
_ING = (
    r"(?:keeping|leaving|dropping|using|skipping|reverting|switching|replacing|moving|treating|sticking|deferring|removing|splitting|merging|generali[sz]ing|simplifying|restricting|limiting"
    r"|disabling|backing\s+out|rolling\s+back|falling\s+back|going\s+with|vendoring|pinning|packaging|swapping|discarding|excluding|ignoring|bypassing|invoking|taking|making|turning|converting|renaming|reusing|storing|caching)"
)
_DID = (
    r"(?:kept|left|dropped|used|skipped|reverted|switched|replaced|moved|treated|stuck|deferred|removed|split|merged|generali[sz]ed|simplified|restricted|limited"
    r"|disabled|swapped|discarded|excluded|ignored|bypassed|took|made|turned|converted|renamed|reused|stored|cached|pinned|set|put|cut|hid|reset|rewrote|rebuilt|chose|picked)"
)
_I = r"\b(?:i|we)"
_AM = _I + r"(?:['’](?:m|re)|\s+am|\s+are)\s+(?:(?:now|just|also|therefore|instead|deliberately|\w+ly)\s+)*"
_HAVE = _I + r"(?:['’]ve|\s+have)?\s+(?:(?:now|just|also|therefore|instead|deliberately|\w+ly)\s+)*"
# What joins a deed to why or how it was done so.
_REASON = (
    r"(?:\b(?:because|since|given|due\s+to|so\s+that|in\s+order\s+to|rather\s+than|instead|without|unless|in\s+favou?r\s+of|in\s+line\s+with|by\s+\w+ing|as\s+(?:an?|one|the|\w+ed)|explicitly|while\s+\w+ing)\b"
    r"|\bto\s+(?:avoid|keep|get\s+rid|match|prevent|let|save|allow|ensure|preserve|reduce|stay|leave|stop|support|bypass|satisfy|comply|fit)\b"
    r"|\bso\s+(?:nothing|no|it|they|the|that|old|one|each|every\w*|all)\b|,\s*not\s+\w|,\s*which\s+\w+|\s[—–]\s|[:;]\s+\w)"
)
_FAR = r"(?=.{3,240}?" + _REASON + r")"

_DOING = _re(
    _AM + _ING + r"\b" + _FAR,
    _AM + r"(?!\w*(?:check|look|try|read|run|test|wait)ing\b)\w+ing\b(?=.{3,160}?\bby\s+\w+ing\b)",
)
# "I'm editing the parser now: swapping one grammar for the other."
_NAMELY = _re(_AM + r"\w+ing\b.{2,60}?:\s+" + _ING + r"\b")
_WILL_DO = _re(
    _I
    + r"(?:['’]ll|\s+will)\s+(?:(?:now|just|also|therefore|instead|\w+ly)\s+)*(?:keep|leave|drop|skip|revert|switch|replace|move|treat|defer|remove|split|merge|generali[sz]e|restrict|limit|disable|swap|exclude"
    r"|ignore|bypass|make|turn|convert|rename|reuse|store|cache|change|raise|lower|force|narrow|widen)\b(?!\s+(?:sure|that\s+change|the\s+changes?)\b)"
    + _FAR
)
_DEED = _re(_HAVE + _DID + r"\b" + _FAR)
# The same without a speaker: "Keeping the old format; it goes with the next release." "Moved to a token so it cascades."
_NOTED = _re(
    r"^\W*(?:now\s+)?(?:"
    + _ING
    + r"|"
    + _DID
    + r")\b(?=.{8,200}?(?:\bbecause\b|\bso\s+(?:that|it|the|no|nothing)\b|\bsince\b|\binstead\b|\brather\s+than\b|;|\s[—–]\s))"
)
_GIVEN_THAT = _re(
    r"^\W*(?:since|because|given(?:\s+that)?|instead\s+of|rather\s+than)\b.{4,200}?,\s*(?:so\s+)?"
    + _HAVE
    + _DID
    + r"\b",
    r",\s*(?:and\s+)?so\s+(?:i|we)(?:['’]ll|['’]ve|\s+have|\s+will)?\s+(?:\w+ly\s+)?(?:"
    + _DID
    + r"|use|keep|treat|leave|skip|drop|cover|pick|choose|avoid|split|store|assume|prefer)\b",
    r"\bso\s+(?:we|i)\s+can\s+(?:keep|drop|skip|reuse|remove|adapt|use)\b",
)
_AGREED = _re(
    r"\b(?:chose|decided|opted|agreed)\s+(?:not\s+to|against|in\s+favou?r)\b|[—–:]\s*(?:agreed|decided|accepted)\b|^\W*(?:chosen|selected|agreed|final|decided)\s+[\w-]+(?:\s+\w+)?\s*[:—]|^\W*[\w ]{3,40}\s(?:recorded|chosen|agreed|decided|settled)\W*:",
    r"\bwe\s+(?:can\s+)?accept\s+(?:that|this|it|the|for)\b|\b(?:gap|risk|cost|price|limitation|trade-?off)\s+(?:that\s+)?(?:we|i)\s+(?:accept|take|live\s+with)\b|\bout\s+of\s+scope\b",
    r"^\W*(?:then\s+|so\s+)?we\s+(?:should|must)\s+(?:add|keep|use|reject|refuse|extract|store|drop|split|treat|move|remove|warn|guard|return|make|avoid|not)\b",
    r"^\W*resolv(?:ing|ed)\s+(?:it|this|that|by)\b",
)
# Verdicts: one way weighed, or found wanting.
_VERDICT = _re(
    r"\b(?:is|are|would\s+be|was)\s+(?:an?\s+)?(?:overkill|unnecessary|not\s+worth|premature|excessive)\b|\b(?:is|are)\s+(?:simpler|cleaner|safer|cheaper|sufficient|enough)\s+(?:here|and|for|since|because|to)\b",
    r"\bis\s+too\s+(?:small|big|large|slow|risky|long|short|fragile|strict|broad|narrow|coarse|expensive|aggressive|conservative)\s+(?:for|to|an?)\b|\bmakes?\s+(?:more|the\s+most|better)\s+sense\b",
    r"\b(?:is|was|are)\s+the\s+(?:right|wrong|best|simplest|safest|natural|better)\s+(?:[\w-]+\s+){0,2}?(?:choice|place|call|approach|tool|way|fit|option|fix|model|layer|level|home|spot)\b",
    r"^\W*[\w'’\"…*` /-]{3,60}\b(?:was|were)\s+wrong\b|\bstays?\s+(?:at|on|as)\s+…|:\s*[\w\s…-]{2,40},\s+(?:yes|no)\b\W*$|^\W*not\s+in\s+this\s+(?:pr|change|release|pass|round|branch)\b",
    r"\bshould\s+not\s+be\s+\w+ed\b|\s[—–]\s*(?:not|never)\s+(?:an?|the|in|on|at|by|from|as)\s",
    r"^\W*(?:adding|using|keeping|moving|making|splitting|removing|replacing|switching)\b.{3,120}?\b(?:makes|avoids|keeps|lets|fixes|prevents|solves|ensures|preserves)\b",
)
# Causes: an effect and where it comes from, or a fault that was found.
_FROM = _re(
    r"\b(?:comes?|came|stem(?:s|med)?|result(?:s|ed)?|arises?|arose|originat\w+)\s+from\b|\btrac(?:es?|ed)\s+back\s+to\b|\b(?:comes?|came|boils?|boiled)\s+down\s+to\b|\ban?\s+art[ei]fact\s+of\b",
    r"\b(?:is|was|are|were|got|been|being)\s+(?:\w+ly\s+)?(?:broken|triggered|introduced|caused|blocked|killed|masked|shadowed|overridden|overwritten|hidden)\s+(?:by|because|due)\b",
    r"^\W*(?:this|that)\s+means\b(?=.*\b(?:because|since)\b)|\b(?:that|this)\s+(?:error|message|failure|warning)\s+means\b|\bi\s+see\s+(?:the\s+)?(?:mismatch|conflict|gap|discrepancy|catch|difference)\b|\bthe\s+reason\b.{1,80}?\bis\b",
)
_FAULT = r"(?:bug|problem|hang|mismatch|difference|defect|regression|gap|error|flaw|race|leak|contradiction|oversight|mistake|limitation|conflict|contract|issue|dead\s?lock|typo|cause)"
_FOUND = _re(
    r"\b(?:found|hit|expos(?:es|ed)|reveal(?:s|ed)|uncover(?:s|ed)|surfac(?:es|ed)|introduc(?:es|ed)|caught|show(?:s|ed))\s+(?:an?|another|the|one|two|three|out)\s+(?:[\w-]+\s+){0,4}?"
    + _FAULT
    + r"\w*\b(?=.{0,200}?(?:[:,;—–]|\b(?:in|where|that|because|when)\b))",
    r"\bi\s+(?:just\s+|now\s+)?(?:realized|realised|misread|overlooked)\b(?=.{12,})|\bbut\s+i\s+had\s+(?:an?|the)\s+(?:bad|wrong|stale)\b|\b(?:is|are|was|were)\s+not\s+(?:[\w-]+\s+){0,3}[\w-]+:\s+\w",
    r"\b(?:fails?|failed|breaks?|broke)\s+(?:\w+\s+){0,3}?(?:in|on|under|with|for)\b.{2,60}?[:.]\W*$",
    r"\b(?:is|this\s+is)\s+(?:\S+\s+){0,4}?an?\s+[*_…]*(?:[\w-]+\s+){0,3}?(?:bug|race|typo|deadlock|regression|leak|off-by-one)\b",
)
# What takes all this back: a guess, an offer, an example.
_OPEN = _re(
    r"\b(?:maybe|perhaps|possibly|might|may\s+(?:be|have|not)|could|whether|would\s+have|wonder\w*|suspect|guess|not\s+sure|unclear|isn['’]t\s+clear|hypothesis|probably|presumably|i\s+think\s+it|seems?)\b",
    r"\b(?:if|please|let\s+me\s+know|would|do|should)\s+(?:you|we\s+want)\b|\byou\s+(?:can|could|may|might|will|should|want|need)\b|^\W*(?:if|when|unless|whenever|for\s+example|e\.g)\b",
)
_BUILDS = (_DOING, _NAMELY, _WILL_DO, _DEED, _NOTED, _GIVEN_THAT, _AGREED, _VERDICT, _FROM, _FOUND)

# A bare announcement, after which the next sentence says what was found.
_ANNOUNCES = re.compile(
    r"^\W*(?:(?:ah|aha|ok(?:ay)?|great|good|perfect|now|so|yes|oh|well)\b[\s,.!]*)*(?:(?:i|we)(?:['’]ve)?\s+)?(?:now\s+)?(?:see|found|spotted|there['’]?s|there\s+is|that['’]?s|here['’]?s|got)\s+(?:it|(?:the|a)\s+(?:real\s+|actual\s+)?"
    r"(?:issue|problem|bug|culprit|cause|root\s+cause|hang|mismatch|difference|catch))\W*$|^\W*the\s+(?:problem|issue|cause)\s+is\s+(?:now\s+)?clear\W*$",
    re.IGNORECASE,
)

# The same in other languages.
_ABROAD = re.compile(
    r"\b(?:ich\s+habe\s+mich\b.{0,60}?\bentschieden|(?:wir|ich)\s+(?:bleiben?|bleibe|nehmen?|nehme|verwenden?|benutze|werden?\s+\w+\s+(?:verwenden|nutzen)|verzichten?|behalten?|lassen?\s+\w+\s+weg)\b|(?:kommt|kam|rührt)\s+(?:daher|davon)"
    r"|die\s+ursache\s+ist|das\s+problem\s+(?:ist|war|liegt)|liegt\s+(?:daran|an\s+\w+)|(?:durch|wegen)\s+\S.{2,80}?\s(?:verursacht|ausgelöst|entstanden|fehlgeschlagen)|,\s*weil\s+\S+"
    r"|je\s+vais\s+(?:utiliser|garder|remplacer)|(?:j['’]ai|nous\s+avons|on\s+a)\s+(?:opté|gardé|choisi|décidé|retenu|préféré|abandonné|remplacé|déplacé)|(?:vient|provient)\s+d[eu]\b|parce\s+qu|à\s+cause\s+d|(?:est|a\s+été|était)\s+(?:dû|due|causée?)"
    r"|la\s+cause\s+(?:est|es)|le\s+problème\s+(?:est|vient)|nous\s+gardons|on\s+garde|voy\s+a\s+(?:usar|mantener)|he\s+decidido|el\s+problema\s+(?:es|era)"
    r"|(?:elegí|opté|decidimos|decidí|escogí|mantuve|dejé|preferí|usamos|usaré)\b|se\s+(?:debe|debió|produjo|debía)\s+(?:a|porque)|(?:fue|está|estaba)\s+(?:causad[oa]|provocad[oa])|porque\s+\S+|debido\s+a)\b"
    r"|决定|我将使用|我会使用|(?:我|我们)(?:选择|选用|采用|改用|不用|保留)|采用|由.{1,30}?(?:引起|导致|造成)|原因(?:是|在于)|因为.{2,60}?(?:所以|，)|导致了?|之所以|根本原因|问题在于"
    r"|(?:する|しない|使う)?ことに(?:しました|します|決め)|原因は|が原因(?:です|でした)|(?:ため|ので)、?.{0,30}?(?:失敗|エラー|できません|なっていました|落ち)|を(?:採用|選択)|にしました",
    re.IGNORECASE,
)
_ABROAD_OPEN = re.compile(
    r"かもしれ|でしょうか|[吗呢]|可能|也许|vielleicht|könnte|peut-être|pourrait|quizás|podría|もしか", re.IGNORECASE
)


def settles(said: str) -> bool:
    """Whether an agent's sentence, quotations blanked out, settles something by its build."""
    return _OPEN.search(said) is None and any(p.search(said) is not None for p in _BUILDS)


def announces(said: str) -> bool:
    """Whether it only says that something was found, which the sentence after it names."""
    return _ANNOUNCES.match(said) is not None


def abroad(said: str) -> bool:
    """Whether a sentence in another language than English settles something."""
    return _ABROAD.search(said) is not None and _ABROAD_OPEN.search(said) is None
