from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.latex import latex
from lambdagent.source import Source


def of(text: str) -> str:
    term = parse_lambda(Source("t", text)).term
    assert term is not None
    return latex(term)


def test_terms_in_latex():
    assert of("λx y. x y") == r"\lambda x\ y.\,x\ y"
    assert of("λgo. Y[20] go ⟨1, go⟩") == (
        r"\lambda \mathit{go}.\,\mathbf{Y}_{20}\ \mathit{go}\ \langle 1,\ \mathit{go}\rangle "
    )
    assert of("λx. λx. x") == r"\lambda x\ x_{1}.\,x_{1}"
    assert of('case 1 of {"a_b" ⇒ fst}') == (
        r"\mathbf{case}\ 1\ \mathbf{of}\ \{\text{"
        r'"a\_b"'
        r"}\ \Rightarrow \ \mathbf{fst}\}"
    )
    assert of("@llm.think (llm.`a b` ())") == r"(\mathsf{llm.`a b`}\ ())"
    assert of("1 :: fst 2") == r"1\ \mathbin{::}\ \mathbf{fst}\ 2"
    assert of('"\\\\^"') == r'\text{"\textbackslash{}\textbackslash{}\textasciicircum{}"}'
