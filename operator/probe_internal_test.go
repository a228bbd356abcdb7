package operator

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked returns what is served for a check and probes.
func asked(ctx context.Context, check error, log *bytes.Buffer, probes ...*probe) (code int, text string) {
	answer := httptest.NewRecorder()
	logger := slog.New(slog.NewTextHandler(log, nil))
	serveProbes(func() error { return check }, probes, logger)(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/healthz", nil))
	return answer.Code, answer.Body.String()
}

func returning(name string, value any, err error) *probe {
	return &probe{name: name, ask: func(context.Context) (any, error) { return value, err }}
}

func TestOwnProbes(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	panics := &probe{name: "odd", ask: func(context.Context) (any, error) { panic("no cheese") }}
	for _, row := range []struct {
		reason string
		check  error
		probes []*probe
		want   string
	}{
		{"none", nil, nil, "ok\n"},
		{"the operator's own check", broken, nil, "broken\n"},
		{"startup 4: values in order, and none", nil, []*probe{returning("b", 7, nil), returning("a", time.Minute, nil), returning("c", nil, nil)}, "ok\nb: 7\na: 1m0s\nc: ok\n"},
		{"an error, and the values of the others", nil, []*probe{returning("a", 1, nil), returning("b", 2, broken)}, "b: broken\na: 1\n"},
		{"several errors", broken, []*probe{returning("a", nil, broken), returning("b", nil, broken)}, "broken\na: broken\nb: broken\n"},
		{"startup 4: a panic", nil, []*probe{panics}, "odd: panic: no cheese (probe_internal_test.go)\n"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			code, text := asked(t.Context(), row.check, &log, row.probes...)
			assert.Equal(t, row.want, regexp.MustCompile(`\.go:\d+`).ReplaceAllString(text, ".go"))
			assert.Equal(t, text[:2] == "ok", code == http.StatusOK)
			assert.Equal(t, row.reason == "startup 4: a panic", log.Len() > 0, "the stack is in the log")
		})
	}
	t.Run("startup 4: never twice at a time, and not for long", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int32
			var ends atomic.Value
			release := make(chan struct{})
			slow := &probe{name: "slow", ask: func(ctx context.Context) (any, error) {
				calls.Add(1)
				until, _ := ctx.Deadline()
				ends.Store(time.Until(until))
				<-release
				return "late", nil
			}}
			impatient, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var all sync.WaitGroup
			all.Go(func() {
				_, text := asked(t.Context(), nil, &bytes.Buffer{}, slow)
				assert.Equal(t, "slow: no answer within 5s\n", text)
			})
			all.Go(func() {
				_, text := asked(impatient, nil, &bytes.Buffer{}, slow)
				assert.Equal(t, "slow: context deadline exceeded\n", text)
			})
			all.Wait()
			assert.EqualValues(t, 1, calls.Load())
			assert.Equal(t, probing, ends.Load(), "whoever asked first may have less patience")
			all.Go(func() {
				_, text := asked(t.Context(), nil, &bytes.Buffer{}, slow)
				assert.Equal(t, "ok\nslow: late\n", text, "the same call")
			})
			synctest.Wait()
			close(release)
			all.Wait()
			require.EqualValues(t, 1, calls.Load())
			_, text := asked(t.Context(), nil, &bytes.Buffer{}, slow)
			assert.Equal(t, "ok\nslow: late\n", text)
			assert.EqualValues(t, 2, calls.Load(), "nothing is kept")
		})
	})
	assert.EqualError(t, checkProbes([]*probe{returning("a", nil, nil), returning("a", nil, nil)}), "probe a: there are two of this name: rename one")
}

func TestCleanupThatHangs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason  string
		cleanup func(ctx context.Context, release chan struct{}) error
		log     string
	}{
		{"it notices the end of its time", func(ctx context.Context, _ chan struct{}) error { <-ctx.Done(); return ctx.Err() },
			`msg="a cleanup failed" startup=ledger error="context deadline exceeded"`},
		{"startup 2: it doesn't", func(_ context.Context, release chan struct{}) error { <-release; return nil },
			`msg="a cleanup doesn't end: the process exits without waiting for it" startup=ledger after=5s`},
		{"it panics", func(context.Context, chan struct{}) error { panic("no cheese") }, `msg="a cleanup failed" startup=ledger error="panic: no cheese (probe_internal_test.go:`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				release := make(chan struct{})
				living, end := context.WithCancel(t.Context())
				end()
				clean(living, "ledger", func(ctx context.Context) error { return row.cleanup(ctx, release) }, time.Now().Add(cleaning), slog.New(slog.NewTextHandler(&log, nil)))
				assert.Contains(t, log.String(), row.log)
				close(release)
			})
		})
	}
}
