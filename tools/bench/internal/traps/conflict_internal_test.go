package traps

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLoudLines(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, line string
		loud         bool
	}{
		{"slog tells something", `time=x level=INFO msg="applied" object=bench/conflicting`, false},
		{"slog warns", `time=x level=WARN msg="again" object=bench/conflicting`, false},
		{"slog tells an error", `time=x level=ERROR msg="failed" object=bench/conflicting`, true},
		{"slog tells an error of another", `time=x level=ERROR msg="failed" object=bench/refused`, false},
		{"zap tells something", `{"level":"info","msg":"Creating child","Bundle":{"name":"conflicting"}}`, false},
		{"zap tells an error", `{"level":"error","msg":"Reconciler error","Bundle":{"name":"conflicting"}}`, true},
		{"zap tells an error of another", `{"level":"error","msg":"x","Bundle":{"name":"refused"},"stacktrace":"main.main"}`, false},
		{"a stack at a low level", `{"level":"info","msg":"x","Bundle":{"name":"conflicting"},"stacktrace":"main.main"}`, true},
		{"klog tells an error", `E1122 06:00:00.000000       1 x.go:1] "failed" object="bench/conflicting"`, true},
		{"klog tells something", `I1122 06:00:00.000000       1 x.go:1] "applied" object="bench/conflicting"`, false},
		{"a panic, of whichever", `panic: runtime error`, true},
		{"the stack of it", `goroutine 12 [running]:`, true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.loud, len(loudLines("first\n"+row.line+"\nlast\n", "conflicting")) == 1)
		})
	}
	assert.Empty(t, loudLines("", "conflicting"))
}
