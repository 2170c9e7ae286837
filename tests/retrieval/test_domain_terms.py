"""Laws of the terms taken from a corpus."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.domain_terms import NUMERALS, DomainTerms, sound_key, words_of
from retrieval.pinyin import readings
from retrieval.terms import Lexicon
from tests.retrieval.letters import passage

BROADBAND = (
    passage(
        "modem", "光猫由装维师傅更换。光猫损坏的照价赔偿。", title="光猫更换", questions=("光猫坏了怎么办",)
    ),
    passage("power", "请先重启光猫，等待3天再报修。", title="断网自查", questions=("上不了网先重启光猫吗",)),
    passage("address", "出库前可以修改收货地址。", title="修改收货地址", questions=("收货地址能改吗",)),
    passage("points", "每100个积分可以抵扣1元，时间以页面为准。", title="积分抵扣"),
)


def sounding(terms: DomainTerms, text: str) -> list[str]:
    return [term.text for term in terms.sounding(sound_key(readings(text)))]


def test_rare_words_and_what_stands_together_are_terms() -> None:
    """积分 is in the dictionary; 光猫 is not, but the corpus writes it again and again; 收货地址 is two words."""
    terms = DomainTerms(BROADBAND)
    assert sounding(terms, "积分") == ["积分"]
    assert sounding(terms, "光猫") == ["光猫"]
    assert sounding(terms, "收货地址") == ["收货地址"]


def test_a_term_is_found_by_its_coarsest_sound() -> None:
    """The key forgets tones, classes and nasal ends; what is found must still be compared."""
    terms = DomainTerms(BROADBAND)
    assert sounding(terms, "机分") == sounding(terms, "几份") == ["积分"]
    assert sounding(terms, "瓜猫") == ["光猫"]
    assert sounding(terms, "黑猫") == []


def test_common_words_and_single_meetings_are_none() -> None:
    """时间 is said by everyone, and 师傅更换 stands together once: nothing is corrected towards them."""
    terms = DomainTerms(BROADBAND)
    assert sounding(terms, "时间") == []
    assert sounding(terms, "师傅更换") == []


def test_numerals_and_figures_are_in_no_term() -> None:
    """No sound is ever turned into a number: a title full of numerals gives none."""
    corpus = [passage(f"p{i}", "三天内二次装机，两百元一次。", title="三天两次") for i in range(4)]
    terms = DomainTerms(corpus)
    for text in ("三天", "二次", "两百", "一次", "三天两次"):
        assert sounding(terms, text) == []


def test_what_the_corpus_writes_is_known_as_it_stands() -> None:
    """Words and up to three neighbours, not any stretch of characters that cuts through words."""
    terms = DomainTerms(BROADBAND)
    assert "重启" in terms
    assert "重启光猫" in terms
    assert "启光" not in terms


def test_the_order_of_passages_does_not_matter() -> None:
    """The same corpus in another order gives the same terms in the same order."""
    one, other = DomainTerms(BROADBAND), DomainTerms(BROADBAND[::-1])
    assert len(one) == len(other) > 0
    for text in ("积分", "光猫", "收货地址", "断网", "抵扣"):
        assert one.sounding(sound_key(readings(text))) == other.sounding(sound_key(readings(text)))


def test_the_users_words_are_words() -> None:
    """A name from the user dictionary is a term where a title names it once."""
    lexicon = Lexicon(["澄湾宝"])
    corpus = [passage("a", "见说明。", title="澄湾宝")]
    assert sounding(DomainTerms(corpus, lexicon.terms, lexicon.rarity), "成湾宝") == ["澄湾宝"]
    assert sounding(DomainTerms(corpus), "成湾宝") == []


def test_an_empty_corpus_has_no_terms() -> None:
    """Nothing indexed, nothing to repair by."""
    assert len(DomainTerms([])) == 0
    assert "退款" not in DomainTerms([])


@given(st.text("退款的收货地址三天两百我们不能一下" + NUMERALS, max_size=16))
def test_words_leave_nothing_out(run: str) -> None:
    """The words of a run are the run; numerals stand alone."""
    words = words_of(run)
    assert "".join(words) == run
    assert all(len(word) == 1 for word in words if set(word) & set(NUMERALS))
