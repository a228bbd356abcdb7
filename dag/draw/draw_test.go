package draw_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/dag/draw"
)

// graphOf returns a graph of some nodes. Each edge is {dependent, dependency}.
func graphOf(tb testing.TB, names []string, edges ...[2]string) *dag.Graph[string] {
	tb.Helper()
	g := dag.New[string]()
	for _, name := range names {
		require.NoError(tb, g.Add(name, name))
	}
	for _, e := range edges {
		require.NoError(tb, g.Depend(e[0], e[1]))
	}
	return g
}

// drawn is a graph in which each outcome occurs, a predicate, a disabled node and one that the
// state doesn't know.
func drawn(t *testing.T) (*dag.Graph[string], dag.State) {
	t.Helper()
	g := graphOf(t, []string{"web", "api", "db", "cache", "old"}, [2]string{"web", "api"}, [2]string{"web", "cache"})
	require.NoError(t, g.Depend("api", "db", dag.When(func(context.Context) (bool, error) { return true, nil })))
	g.Disable("old")
	answers := map[string]error{"api": dag.Unverified(nil), "cache": errors.New("boom")}
	state, err := dag.Run(t.Context(), g, func(_ context.Context, name, _ string) error { return answers[name] })
	require.NoError(t, err)
	require.NoError(t, g.Add("new", ""))
	return g, state
}

func TestDOT(t *testing.T) {
	t.Parallel()
	g, state := drawn(t)
	assert.Equal(t, `digraph {
  rankdir=LR;
  node [shape=box];
  "web";
  "api";
  "db";
  "cache";
  "old" [fillcolor="#eeeeee", color="#9e9e9e", style="filled,dashed"];
  "new";
  "web" -> "api";
  "web" -> "cache";
  "api" -> "db" [style=dashed];
  label=<<table border="0" cellborder="1" cellspacing="4"><tr><td bgcolor="#eeeeee" color="#9e9e9e">disabled</td></tr></table>>;
}
`, draw.DOT(g, dag.State{}))
	assert.Equal(t, `digraph {
  rankdir=LR;
  node [shape=box];
  "web" [fillcolor="#e3f2fd", color="#1565c0", style="filled", tooltip="waits for cache (failed)"];
  "api" [fillcolor="#fff3c4", color="#b28704", style="filled", tooltip="unverified"];
  "db" [fillcolor="#c8e6c9", color="#2e7d32", style="filled"];
  "cache" [fillcolor="#ffcdd2", color="#c62828", style="filled", tooltip="boom"];
  "old" [fillcolor="#eeeeee", color="#9e9e9e", style="filled,dashed", tooltip="disabled"];
  "new";
  "web" -> "api";
  "web" -> "cache";
  "api" -> "db" [style=dashed];
  label=<<table border="0" cellborder="1" cellspacing="4"><tr><td bgcolor="#c8e6c9" color="#2e7d32">verified</td><td bgcolor="#fff3c4" color="#b28704">unverified</td><td bgcolor="#ffcdd2" color="#c62828">failed</td><td bgcolor="#e3f2fd" color="#1565c0">unstarted</td><td bgcolor="#eeeeee" color="#9e9e9e">disabled</td></tr></table>>;
}
`, draw.DOT(g, state))
}

func TestMermaid(t *testing.T) {
	t.Parallel()
	g, state := drawn(t)
	plain := `flowchart LR
  n0["web"]
  n1["api"]
  n2["db"]
  n3["cache"]
  n4["old"]
  n5["new"]
  n0 --> n1
  n0 --> n3
  n1 -.-> n2
`
	assert.Equal(t, plain+`  subgraph legend
    l0["disabled"]
  end
  classDef disabled fill:#eeeeee,stroke:#9e9e9e,color:#000
  class n4,l0 disabled
  classDef dashed stroke-dasharray:5 5
  class n4,l0 dashed
`, draw.Mermaid(g, dag.State{}), "a disabled node is grey without a state too")
	assert.Equal(t, plain+`  subgraph legend
    l0["verified"]
    l1["unverified"]
    l2["failed"]
    l3["unstarted"]
    l4["disabled"]
  end
  classDef verified fill:#c8e6c9,stroke:#2e7d32,color:#000
  class n2,l0 verified
  classDef unverified fill:#fff3c4,stroke:#b28704,color:#000
  class n1,l1 unverified
  classDef failed fill:#ffcdd2,stroke:#c62828,color:#000
  class n3,l2 failed
  classDef unstarted fill:#e3f2fd,stroke:#1565c0,color:#000
  class n0,l3 unstarted
  classDef disabled fill:#eeeeee,stroke:#9e9e9e,color:#000
  class n4,l4 disabled
  classDef dashed stroke-dasharray:5 5
  class n4,l4 dashed
`, draw.Mermaid(g, state))
	g.Enable("old")
	assert.Equal(t, plain, draw.Mermaid(g, dag.State{}), "without a state and disabled nodes there is no legend")
	g.Disable("db")
	assert.Contains(t, draw.Mermaid(g, state), "  class n2,l0 verified\n", "what was visited before keeps its outcome")
}

func TestDrawNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ why, name, dot, mermaid string }{
		{"plain", "shop/web-1.2_x", `"shop/web-1.2_x";`, `["shop/web-1.2#95;x"]`},
		{"what both languages take as it is", "é ü 世界", `"é ü 世界";`, `["é ü 世界"]`},
		{"a quote ends nothing", `a"b`, `"a\"b" [label="a\"b"];`, `["a#34;b"]`},
		{"a backslash at the end escapes no quote", `a\`, `"a\\" [label="a\\"];`, `["a#92;"]`},
		{"an escape of the language is text", `\N`, `"\\N" [label="\\N"];`, `["#92;N"]`},
		{"a new line stays one line of the file", "a\nb", `"a\nb" [label="a\nb"];`, `["a<br>b"]`},
		{"entities and tags are text", "<b>&lt;", `"<b>&lt;" [label="<b>&amp;lt;"];`, `["#60;b#62;#38;lt#59;"]`},
		{"what ends a statement doesn't", `n0"]; x -> y`, `"n0\"]; x -> y" [label="n0\"]; x -> y"];`, `["n0#34;#93;#59; x -#62; y"]`},
		{"what can't be printed", "a\x00\xff\t", `"a\x00\xff\x09" [label="a\\x00\\xff\\x09"];`, "[\"a\uFFFD\uFFFD\uFFFD\"]"},
		{"a name that is a keyword", "graph", `"graph";`, `["graph"]`},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			g := graphOf(t, []string{row.name})
			assert.Equal(t, "  "+row.dot, strings.Split(draw.DOT(g, dag.State{}), "\n")[3])
			assert.Equal(t, "  n0"+row.mermaid, strings.Split(draw.Mermaid(g, dag.State{}), "\n")[1])
		})
	}
	t.Run("different names stay different", func(t *testing.T) {
		t.Parallel()
		names := []string{"a\n", `a\n`, "a\x00", `a\x00`, `a\\x00`, `a"`, `a\"`, "a&amp;", "a&", "a\xff", "a\uFFFD"}
		seen := map[string]bool{}
		for _, line := range strings.Split(draw.DOT(graphOf(t, names), dag.State{}), "\n")[3 : 3+len(names)] {
			id, _, _ := strings.Cut(line, " [label")
			assert.False(t, seen[id], id)
			seen[id] = true
		}
	})
	t.Run("an error of several lines stays in its quotes", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a"})
		state, err := dag.NewState(dag.Outcomes{Failed: []string{"a"},
			Errors: []dag.NodeError{{Name: "a", Err: errors.New("one \"two\"\nthree & \\four")}}})
		require.NoError(t, err)
		assert.Contains(t, draw.DOT(g, state), `tooltip="one \"two\"\nthree &amp; \\four"];`)
	})
}

func TestSVG(t *testing.T) {
	t.Parallel()
	g, state := drawn(t)
	plain, coloured := draw.SVG(g, dag.State{}), draw.SVG(g, state)
	for _, text := range []string{plain, coloured} {
		var names []string
		decoder := xml.NewDecoder(strings.NewReader(text))
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, text)
			if letters, ok := token.(xml.CharData); ok && strings.TrimSpace(string(letters)) != "" {
				names = append(names, string(letters))
			}
		}
		for _, name := range g.Names() {
			assert.Contains(t, names, name)
		}
		assert.Equal(t, 3, strings.Count(text, `marker-end="url(#arrow)"`), "an arrow for each dependency")
		assert.Equal(t, 3, strings.Count(text, "stroke-dasharray"), "a predicate, a disabled node, and its box in the legend")
	}
	assert.NotContains(t, plain, "<title>")
	assert.NotContains(t, plain, ">verified</text>", "the legend has only what occurs")
	for _, want := range []string{`<title>boom</title>`, `<title>waits for cache (failed)</title>`, `fill="#c8e6c9"`, `fill="#ffcdd2"`, `fill="#fff3c4"`, `fill="#e3f2fd"`, `fill="#eeeeee"`,
		">verified</text>", ">unverified</text>", ">failed</text>", ">unstarted</text>", ">disabled</text>"} {
		assert.Contains(t, coloured, want)
	}
	assert.Contains(t, draw.SVG(dag.New[int](), dag.State{}), "</svg>", "nothing is a picture too")
	strange := graphOf(t, []string{"<a & \"b\">", "nul\x00", "bad\xff"})
	assert.Contains(t, draw.SVG(strange, dag.State{}), "&lt;a &amp; &#34;b&#34;&gt;")
	assert.NotContains(t, draw.SVG(strange, dag.State{}), "\x00")
	ring := graphOf(t, []string{"a", "b"}, [2]string{"a", "b"})
	_ = ring.Depend("b", "a")
	assert.Contains(t, draw.SVG(ring, dag.State{}), ">b</text>")
}

func TestDrawNothing(t *testing.T) {
	t.Parallel()
	var g *dag.Graph[int]
	assert.Equal(t, "digraph {\n  rankdir=LR;\n  node [shape=box];\n}\n", draw.DOT(g, dag.State{}))
	assert.Equal(t, "flowchart LR\n", draw.Mermaid(g, dag.State{}))
}

// FuzzDraw checks that no name breaks out of its place in a picture, and that different names
// stay different.
func FuzzDraw(f *testing.F) {
	f.Add("a", "b")
	f.Add("a\n", `a\n`)
	f.Add(`a\`, `a\"]; x -> y; "`)
	f.Add("a\x00\xff", "a#34;<br>`&amp;")
	f.Fuzz(func(t *testing.T, a, b string) {
		g := dag.New[int]()
		if g.Add(a, 0) != nil || g.Add(b, 0) != nil || g.Depend(a, b) != nil {
			return
		}
		state, err := dag.NewState(dag.Outcomes{Failed: []string{a}, Unstarted: []string{b},
			Errors: []dag.NodeError{{Name: a, Err: errors.New(b)}}, Reasons: map[string]string{b: a}})
		require.NoError(t, err)
		lines := strings.Split(draw.DOT(g, state), "\n")
		require.Len(t, lines, 9)
		first, second := quoted(t, lines[3]), quoted(t, lines[4])
		require.NotEqual(t, first[0], second[0])
		require.Equal(t, []string{first[0], second[0]}, quoted(t, lines[5]))
		for _, line := range strings.Split(draw.Mermaid(g, state), "\n")[1:3] {
			require.Equal(t, 2, strings.Count(line, `"`))
			require.True(t, strings.HasSuffix(line, `"]`))
			require.True(t, utf8.ValidString(line))
		}
	})
}

// quoted reads the quoted strings of a line of DOT as Graphviz does: a backslash takes the next
// character along.
func quoted(t *testing.T, line string) (list []string) {
	t.Helper()
	start := -1
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && start >= 0:
			i++
		case line[i] == '"' && start < 0:
			start = i + 1
		case line[i] == '"':
			list = append(list, line[start:i])
			start = -1
		}
	}
	require.Equal(t, -1, start, "a string that doesn't end: %s", line)
	return list
}
