package operator_test

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVersionCommand(t *testing.T) {
	t.Parallel()
	code, out, log := execute(t, "version", "--versions.operator", "1.10")
	require.Zero(t, code, log)
	assert.Contains(t, out, "widget-operator   1.10\n")
	assert.Contains(t, out, "platform          "+runtime.GOOS+"/"+runtime.GOARCH+"\n")
	code, out, log = execute(t, "version", "--versions.operator", "1.10", "--output", "json")
	require.Zero(t, code, log)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.Equal(t, "1.10", got["version"])
	assert.Equal(t, runtime.Version(), got["go"])
	code, out, log = execute(t, "version", "-o", "yaml")
	require.Zero(t, code, log)
	assert.Contains(t, out, "operator: widget-operator\n")
	code, _, log = execute(t, "version", "now")
	assert.Equal(t, 2, code)
	assert.Contains(t, log, `"now": version takes no arguments`)
}
