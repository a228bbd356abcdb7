package dag_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

// drawn is a graph in which each outcome occurs, a predicate, a disabled node and one that the
// state doesn't know.
func drawn(t *testing.T) (*dag.Graph[string], dag.State) {
	t.Helper()
	g := graphOf(t, []string{"web", "api", "db", "cache", "old"}, [2]string{"web", "api"}, [2]string{"web", "cache"})
	require.NoError(t, g.Depend("api", "db", dag.When(func(context.Context) (bool, error) { return true, nil })))
	g.Disable("old")
	r := &recorder{answers: map[string]error{"api": dag.Unverified(nil), "cache": errBoom}}
	state, err := dag.Run(t.Context(), g, r.visit)
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
  "old" [style="dashed"];
  "new";
  "web" -> "api";
  "web" -> "cache";
  "api" -> "db" [style=dashed];
}
`, g.DOT())
	assert.Equal(t, `digraph {
  rankdir=LR;
  node [shape=box];
  "web" [fillcolor="#eeeeee", color="#9e9e9e", style="filled", tooltip="waits for cache (failed)"];
  "api" [fillcolor="#fff3c4", color="#b28704", style="filled", tooltip="unverified"];
  "db" [fillcolor="#c8e6c9", color="#2e7d32", style="filled"];
  "cache" [fillcolor="#ffcdd2", color="#c62828", style="filled", tooltip="boom"];
  "old" [fillcolor="#eeeeee", color="#9e9e9e", style="filled,dashed", tooltip="disabled"];
  "new";
  "web" -> "api";
  "web" -> "cache";
  "api" -> "db" [style=dashed];
}
`, g.DOT(dag.WithState(state)))
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
	disabled := `  classDef disabled stroke-dasharray:5 5
  class n4 disabled
`
	assert.Equal(t, plain+disabled, g.Mermaid())
	assert.Equal(t, plain+`  classDef unstarted fill:#eeeeee,stroke:#9e9e9e,color:#000
  class n0,n4 unstarted
  classDef verified fill:#c8e6c9,stroke:#2e7d32,color:#000
  class n2 verified
  classDef unverified fill:#fff3c4,stroke:#b28704,color:#000
  class n1 unverified
  classDef failed fill:#ffcdd2,stroke:#c62828,color:#000
  class n3 failed
`+disabled, g.Mermaid(nil, dag.WithState(state)))
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
			assert.Equal(t, "  "+row.dot, strings.Split(g.DOT(), "\n")[3])
			assert.Equal(t, "  n0"+row.mermaid, strings.Split(g.Mermaid(), "\n")[1])
		})
	}
	t.Run("different names stay different", func(t *testing.T) {
		t.Parallel()
		names := []string{"a\n", `a\n`, "a\x00", `a\x00`, `a\\x00`, `a"`, `a\"`, "a&amp;", "a&", "a\xff", "a\uFFFD"}
		seen := map[string]bool{}
		for _, line := range strings.Split(graphOf(t, names).DOT(), "\n")[3 : 3+len(names)] {
			id, _, _ := strings.Cut(line, " [label")
			assert.False(t, seen[id], id)
			seen[id] = true
		}
	})
	t.Run("an error of several lines stays in its quotes", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a"})
		state, err := dag.NewState(dag.Outcomes{Failed: []string{"a"},
			Errors: []dag.NodeError{{Name: "a", Err: &flagged{text: "one \"two\"\nthree & \\four"}}}})
		require.NoError(t, err)
		assert.Contains(t, g.DOT(dag.WithState(state)), `tooltip="one \"two\"\nthree &amp; \\four"];`)
	})
}

func TestSVG(t *testing.T) {
	t.Parallel()
	g, state := drawn(t)
	plain, coloured := g.SVG(), g.SVG(dag.WithState(state))
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
		assert.Equal(t, 2, strings.Count(text, "stroke-dasharray"), "a predicate, and a disabled node")
	}
	assert.NotContains(t, plain, "<title>")
	for _, want := range []string{`<title>boom</title>`, `<title>waits for cache (failed)</title>`, `fill="#c8e6c9"`, `fill="#ffcdd2"`, `fill="#fff3c4"`, `fill="#eeeeee"`} {
		assert.Contains(t, coloured, want)
	}
	assert.Contains(t, dag.New[int]().SVG(), "</svg>", "nothing is a picture too")
	strange := graphOf(t, []string{"<a & \"b\">", "nul\x00", "bad\xff"})
	assert.Contains(t, strange.SVG(), "&lt;a &amp; &#34;b&#34;&gt;")
	assert.NotContains(t, strange.SVG(), "\x00")
	ring := graphOf(t, []string{"a", "b"}, [2]string{"a", "b"})
	_ = ring.Depend("b", "a")
	assert.Contains(t, ring.SVG(), ">b</text>")
}
