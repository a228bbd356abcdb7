package operator_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfigCommand(t *testing.T) {
	t.Parallel()
	path := file(t, "log: {level: debug}\nwatch:\n  namespaces: [shop, 'team-*']\n")
	t.Run("a table", func(t *testing.T) {
		t.Parallel()
		code, out, log := execute(t, "config", "--config", path, "--log.format=json", "log", "watch.namespaces")
		require.Zero(t, code, log)
		assert.Empty(t, log)
		assert.Equal(t, `KEY                VALUE         SOURCE
log.filters                      default
log.format         json          --log.format
log.level          debug         `+path+`:1
watch.namespaces   shop,team-*   `+path+":3\n", out)
	})
	t.Run("operator 15: every key, and what it prints as YAML is a file that says the same", func(t *testing.T) {
		t.Parallel()
		code, out, log := execute(t, "config", "--config", path, "--versions.operator=1.10", "--watch.period=1hr", "-o", "yaml")
		require.Zero(t, code, log)
		assert.Contains(t, out, "  operator: \"1.10\" # --versions.operator\n")
		assert.Contains(t, out, "  namespaces: [shop, team-*] # "+path+":3\n")
		assert.Contains(t, out, "  period: 1h0m0s # --watch.period\n")
		again := file(t, out)
		code, twice, log := execute(t, "config", "--config", again, "-o", "yaml")
		require.Zero(t, code, log)
		values := func(text string) (values []string) {
			for line := range strings.Lines(text) {
				value, _, _ := strings.Cut(line, " # ")
				values = append(values, strings.TrimRight(value, "\n"))
			}
			return values
		}
		assert.Equal(t, values(out), values(twice))
	})
	t.Run("JSON", func(t *testing.T) {
		t.Parallel()
		code, out, log := execute(t, "config", "--config", path, "-o", "json", "watch.namespaces", "kubeconfig")
		require.Zero(t, code, log)
		var got []map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		assert.Equal(t, []map[string]any{
			{"key": "kubeconfig", "value": "", "source": "default"},
			{"key": "watch.namespaces", "value": []any{"shop", "team-*"}, "source": path + ":3"},
		}, got)
	})
	for reason, row := range map[string]struct {
		args []string
		want string
	}{
		"a key that there isn't":              {[]string{"config", "watch", "wach"}, "wach: there is no such setting"},
		"a form that there isn't":             {[]string{"config", "-o", "xml"}, `--output "xml": use table, yaml or json`},
		"operator 2: a controller that isn't": {[]string{"config", "--controllers", "Wodget"}, `--controllers "[Wodget]": this operator has no controller of the kind Wodget: choose one of Widget`},
		"a file that isn't there":             {[]string{"config", "--config", "nowhere.yaml"}, `--config "nowhere.yaml": no such file or directory`},
		"a file that is a directory":          {[]string{"config", "--config", os.TempDir()}, "is a directory"},
		"operator 16: all mistakes":           {[]string{"config", "--log.level", "loud", "--watch.workers", "-1"}, "2 settings are wrong:"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			code, out, log := execute(t, row.args...)
			assert.Equal(t, 2, code)
			assert.Empty(t, out)
			assert.Contains(t, log, row.want)
		})
	}
}
