package celready_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/celready"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the README shows is compiled: its Go stands in the examples, and the expressions of its table are ones.
func TestReadme(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("README.md")
	require.NoError(t, err)
	readme := string(content)
	examples, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	pieces := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(readme, -1)
	require.Len(t, pieces, 2)
	for _, piece := range pieces {
		assert.Contains(t, string(examples), piece[1])
	}

	_, table, found := strings.Cut(readme, "| you want | you write |")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	expressions := regexp.MustCompile("`([^`]*(?:==|!=|has\\(|join|format)[^`]*)`").FindAllStringSubmatch(table, -1)
	require.Len(t, expressions, 9)
	for _, expression := range expressions {
		text := expression[1]
		if condition, rest := strings.CutPrefix(text, "... && "); rest {
			text = "object.status.conditions.exists(c, " + condition + ")"
		}
		asBool, asText := celready.Expressions{Ready: text}, celready.Expressions{Ready: "true", Message: text}
		_, err := celready.Compile(asBool)
		if err != nil {
			_, err = celready.Compile(asText)
		}
		assert.NoError(t, err, text)
	}
}
