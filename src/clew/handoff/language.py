"""Which language a text is written in, as far as its letters and commonest words say. Unsure is an answer: ""."""

from __future__ import annotations

import re
from collections.abc import Iterable

NAMES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "pt": "Portuguese", "it": "Italian",
    "nl": "Dutch", "pl": "Polish", "sv": "Swedish", "tr": "Turkish", "zh": "Chinese", "ja": "Japanese",
    "ko": "Korean", "ru": "Russian", "uk": "Ukrainian", "ar": "Arabic", "he": "Hebrew", "el": "Greek", "th": "Thai",
    "hi": "Hindi",
}  # fmt: skip

_WORDS = {
    "en": "the and is are was were to of in that it you for with not this have be we on as from should please when what how",
    "de": "der die das und ist sind war nicht ich du wir sie ein eine einen den dem zu mit auf für im von wird wurde auch bitte",
    "fr": "le la les des et est sont une un dans pour pas que qui avec sur ce cette il nous vous je du au été plus être",
    "es": "el la los las y es son una un en para no que con por se del al está fue como más lo su este esta hay",
    "pt": "o a os as e é são uma um em para não que com por se do da no na foi como mais ao está isso você",
    "it": "il la i gli le e è sono una un in per non che con si del della di da al come più questo questa stato",
    "nl": "de het een en is zijn was niet ik je we in op van voor met dat die te aan er wordt naar ook",
    "pl": "i w na nie to jest są się że do z po jak dla przez od czy był była co tak oraz proszę",
    "sv": "och att det är en ett i på som inte jag du vi för med av den till har var om från",
    "tr": "ve bir bu için ile de da değil olarak ama ne mi çok gibi daha var yok sonra ben sen lütfen",
}  # fmt: skip
_PROFILES = {code: frozenset(words.split()) for code, words in _WORDS.items()}
_LEAST_HITS = 4  # different common words before a Latin-lettered text counts as sure
_MARGIN = 1.5  # times as many words of the language as of the next likely one

_SCRIPTS: tuple[
    tuple[str, re.Pattern[str], int], ...
] = (  # language, its letters, what one letter weighs in Latin ones
    ("ja", re.compile(r"[\u3040-\u30ff]"), 3),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]"), 3),
    ("ko", re.compile(r"[\uac00-\ud7af]"), 3),
    ("ru", re.compile(r"[\u0400-\u04ff]"), 1),
    ("ar", re.compile(r"[\u0600-\u06ff]"), 1),
    ("he", re.compile(r"[\u0590-\u05ff]"), 1),
    ("el", re.compile(r"[\u0370-\u03ff]"), 1),
    ("th", re.compile(r"[\u0e00-\u0e7f]"), 1),
    ("hi", re.compile(r"[\u0900-\u097f]"), 1),
)
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_UKRAINIAN = re.compile(r"[іїєґ]", re.IGNORECASE)
_NOT_PROSE = re.compile(
    r"(?s:```.*?(?:```|\Z))|`[^`\n]*`|^#{1,6} .*$|\bhttps?://\S+|\[[^\]\n]*\]|\S*[/\\_={}<>@]\S*|\S+\.\w+|\w*\d\w*",
    re.MULTILINE,
)
_NO_WORD = re.compile(r"\S{200,}")  # also because patterns that look from each letter on take too long over one
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_ENOUGH = 20_000  # characters that are looked at


def prose(text: str) -> str:
    """The text without what has no language: code, paths, headings, marks, numbers."""
    return _NOT_PROSE.sub(" ", _NO_WORD.sub(" ", text[:_ENOUGH]))


def detect(text: str) -> str:
    """The code of the language of a text's prose; "" where there is too little of it or two are as likely."""
    words = prose(text)
    latin = len(_LATIN.findall(words))
    counts = {code: weight * len(letters.findall(words)) for code, letters, weight in _SCRIPTS}
    code = max(counts, key=lambda c: counts[c])
    if counts[code] >= 6 and counts[code] > latin / 2:
        if counts["ja"] and counts["ja"] * 5 > counts["zh"]:
            return "ja"  # its Chinese characters outnumber the kana
        return "uk" if code == "ru" and _UKRAINIAN.search(words) else code
    return _latin(words)


def _latin(words: str) -> str:
    found = [w.lower() for w in _WORD.findall(words)]
    scores = sorted(((sum(w in own for w in found), code) for code, own in _PROFILES.items()), reverse=True)
    (best, code), (second, _) = scores[:2]
    different = len(set(found) & _PROFILES[code])
    return code if different >= _LEAST_HITS and best >= _MARGIN * second else ""


def spoken(texts: Iterable[str]) -> frozenset[str]:
    """The languages of several texts, those that are sure: a user may switch."""
    listed = list(texts)
    return frozenset(code for code in (detect(t) for t in (*listed, "\n".join(listed))) if code)
