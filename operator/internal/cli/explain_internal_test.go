package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// explained runs the command explain, and returns what it prints.
func explained(args ...string) (string, error) {
	o := &Operator{Called: "widget-operator", Domain: "example.dev"}
	var out bytes.Buffer
	command := o.explainCommand()
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(&out)
	command.SilenceErrors, command.SilenceUsage = true, true
	err := command.Execute()
	return out.String(), err
}

func TestExplain(t *testing.T) {
	t.Parallel()
	t.Run("messages 2: entries by reason and by text", testExplain)
	t.Run("messages 2: errors", testExplainErrors)
}

func testExplain(t *testing.T) {
	t.Parallel()
	var shown strings.Builder
	for _, args := range [][]string{
		{"ConfigError"}, {"paused"}, {"Deleting"}, {"the", "controller", "hasn't", "observed"}, {"replicas are"},
		{"can't find out whether objects are deleted or only not selected any more, trying again"},
	} {
		text, err := explained(args...)
		require.NoError(t, err)
		shown.WriteString("$ widget-operator explain " + strings.Join(args, " ") + "\n" + text + "\n")
		for line := range strings.Lines(text) {
			assert.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), helpColumns, line)
		}
	}
	golden, err := os.ReadFile("testdata/explain.txt")
	require.NoError(t, err)
	assert.Equal(t, string(golden), shown.String())
}

func testExplainErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"misspelt", []string{"ConfgError"}, `"ConfgError": there is no entry: did you mean ConfigError?`},
		{"nothing like it", []string{"the", "moon", "is", "full"}, `"the moon is full": there is no entry: try fewer words`},
		{"nothing", nil, "explain needs a reason or words of a message: see 'widget-operator explain --help'"},
	} {
		_, err := explained(row.args...)
		require.EqualError(t, err, row.want, row.reason)
		var coded interface{ ExitCode() int }
		require.ErrorAs(t, err, &coded, row.reason)
		assert.Equal(t, 2, coded.ExitCode(), row.reason)
	}
}

func TestStatusEndsWithAnExplanation(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{ // the reason of a resource, and what is after its state
		"ConfigError": "\nMore about ConfigError: widget-operator explain ConfigError\n",
		"Stable":      "",
		"OfMyOwn":     "",
		"":            "",
	} {
		t.Run("messages 4: reason "+reason, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			require.NoError(t, states{all: []state{{Kind: "Widget", Name: "hello", Ready: "False", Reason: reason}}, details: true, called: "widget-operator"}.table(&out))
			_, end, _ := strings.Cut(out.String(), strings.TrimRight("Ready    False  "+reason, " ")+"\n")
			assert.Equal(t, want, end, reason)
		})
	}
}

func TestExplainCompletes(t *testing.T) {
	t.Parallel()
	complete := (&Operator{}).explainCommand().ValidArgsFunction
	names, _ := complete(nil, nil, "")
	assert.Contains(t, names, "ConfigError")
	assert.Contains(t, names, "deploy.OwnedError")
	assert.NotContains(t, names, "status not written", "a name with spaces")
	names, _ = complete(nil, []string{"ConfigError"}, "")
	assert.Empty(t, names, "words of a message aren't completed")
}
