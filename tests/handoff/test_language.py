"""Which language: sure where it can be, and silent where it can't."""

from __future__ import annotations

import pytest

from clew.handoff.language import detect, prose, spoken

SAID = {
    "en": "Please look at the tests and tell me what is wrong with them, then fix it.",
    "de": "Bitte schau dir die Tests an und sag mir, was mit ihnen nicht stimmt und wie wir das beheben.",
    "fr": "Regarde les tests et dis-moi ce qui ne va pas dans la page, puis corrige le code avec une solution.",
    "es": "Mira las pruebas y dime qué es lo que no funciona en la página, por favor, y corrige el código.",
    "pt": "Veja os testes e diga o que não está certo com a página, por favor, e corrija isso para mim.",
    "it": "Guarda i test e dimmi che cosa non va con la pagina, per favore, e correggi il codice di questo modulo.",
    "nl": "Kijk naar de tests en zeg mij wat er niet goed is met het scherm, en los het voor ons op.",
    "pl": "Sprawdź testy i powiedz, co jest nie tak na stronie, a potem napraw to proszę tak jak się da.",
    "ru": "Посмотри тесты и скажи, что с ними не так, потом исправь.",
    "uk": "Подивися тести і скажи, що з ними не так, потім виправ її.",
    "zh": "请检查一下测试，告诉我哪里有问题，然后修复它。",
    "ja": "テストを見て、何が悪いのか教えてください。それから直してください。",
    "ko": "테스트를 보고 무엇이 잘못되었는지 알려 주세요.",
    "ar": "انظر إلى الاختبارات وأخبرني ما الخطأ ثم أصلحه.",
}


@pytest.mark.parametrize("code", sorted(SAID))
def test_a_sentence_or_two_is_enough(code: str):
    assert detect(SAID[code]) == code
    noisy = f"## Goal\n{SAID[code]}\n```\nthe and is are of in to it that you for\n```\n`for x in the_list` src/main.py"
    assert detect(noisy) == code


@pytest.mark.parametrize("text", ["", "ok", "fix it", "src/cart.py:12 `pytest -q`", "12 34 56", "## Goal\nNone."])
def test_too_little_is_unsure(text: str):
    assert detect(text) == ""


def test_code_and_headings_have_no_language():
    assert prose("## The Goal Of It\n`the code` src/the.py [the mark]").split() == []


def test_a_user_may_speak_two():
    assert spoken([SAID["de"], SAID["en"], "ok"]) == {"de", "en"}
    assert spoken([]) == frozenset()
