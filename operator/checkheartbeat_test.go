package operator_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckHeartbeat(t *testing.T) {
	t.Parallel()
	const old, fresh, odd, nothing = "OLD", "FRESH", "ODD", "NOTHING"
	for _, row := range []struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		{"operator 7: fresh", []string{"--file", fresh, "--delta", "120"}, 0, ""},
		{"operator 7: old", []string{"-f", old, "-d", "10"}, 1, "the last beat is 1m4"},
		{"operator 7: the file of the setting", []string{"--heartbeat.file", fresh}, 0, ""},
		{"operator mistake 8: what is asked for is twice the period", []string{"--heartbeat.file", old}, 1, "the limit is 1m0s"},
		{"whatever that is", []string{"--heartbeat.file", old, "--heartbeat.period", "1m"}, 0, ""},
		{"a duration", []string{"--file", old, "--delta", "0hr2m"}, 0, ""},
		{"operator 7: none", []string{"--file", nothing}, 1, "the file doesn't exist: check that the process writes this file"},
		{"operator mistake 8: one that is none", []string{"--file", odd}, 1, `it holds no time: "soon"`},
		{"no file", nil, 2, "no heartbeat file is given: use --file, or the setting heartbeat.file"},
		{"an age that is none", []string{"--file", fresh, "--delta", "old"}, 2, `--delta "old": use a duration such as 90s or 5m, or a number of seconds`},
		{"an age before", []string{"--file", fresh, "--delta", "-5s"}, 2, `--delta "-5s": use a duration`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range map[string]string{
				old: time.Now().Add(-100 * time.Second).UTC().Format(time.RFC3339), fresh: time.Now().UTC().Format(time.RFC3339), odd: "soon",
			} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
			}
			args := []string{"check-heartbeat"}
			for _, arg := range row.args {
				if slices.Contains([]string{old, fresh, odd, nothing}, arg) {
					arg = filepath.Join(dir, arg)
				}
				args = append(args, arg)
			}
			code, out, log := execute(t, args...)
			assert.Equal(t, row.code, code, log)
			assert.Empty(t, out)
			if row.want == "" {
				assert.Empty(t, log)
			}
			assert.Contains(t, log, row.want)
		})
	}
}
