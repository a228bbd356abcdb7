package watches_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/hooks/internal/watches"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	const period, artifacts, verbosity = watches.ReconcilePeriodAnnotation, watches.MaxRunnerArtifactsAnnotation, watches.VerbosityAnnotation
	before := watches.Settings{ReconcilePeriod: time.Hour, MaxRunnerArtifacts: 20, Verbosity: 2}
	for _, row := range []struct {
		reason      string
		annotations map[string]string
		want        watches.Settings
		errs        []string
	}{
		{"without annotations", nil, before, nil},
		{"all of them", map[string]string{period: "1m30s", artifacts: "100", verbosity: "5"}, watches.Settings{90 * time.Second, 100, 5}, nil},
		{"zero keeps all runs, and has the default period", map[string]string{period: "0s", artifacts: "0", verbosity: "0"}, watches.Settings{}, nil},
		{"a mistake in each", map[string]string{period: "1x", artifacts: "many", verbosity: "8"}, before, []string{
			`annotation ` + period + `: "1x"`, artifacts + `: "many"`, verbosity + `: "8": must be a number from 0 to 7`,
		}},
		{"a mistake in one", map[string]string{period: "5s", verbosity: "-1"}, watches.Settings{5 * time.Second, 20, 2}, []string{verbosity}},
		{"a period that would keep a worker busy", map[string]string{period: "1ms"}, before, []string{"at least 1s"}},
		{"a negative period", map[string]string{period: "-1h"}, before, []string{"at least 1s"}},
	} {
		t.Run("hooks 65: "+row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := before.Override(row.annotations)
			assert.Equal(t, row.want, got)
			if len(row.errs) == 0 {
				require.NoError(t, err)
			}
			for _, want := range row.errs {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}
