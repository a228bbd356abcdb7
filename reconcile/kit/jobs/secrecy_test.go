package jobs_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/kit/jobs"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNothingIsSaidOfTheOutput(t *testing.T) {
	t.Parallel()
	const hush = "password=hunter2"
	for _, row := range []struct {
		reason string
		opts   []jobs.Option
		said   bool
	}{
		{"usually it is in the status, in events and in the log", nil, true},
		{"with the option it is nowhere", []jobs.Option{jobs.WithoutOutput()}, false},
	} {
		t.Run("jobs 20: what a container wrote: "+row.reason, func(t *testing.T) {
			t.Parallel()
			log, events := &testlog.Text{}, &testlog.Text{}
			sink := event.Func(func(e event.Event) { _, _ = fmt.Fprintf(events, "%+v\n", e) })
			logger := slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug - 10}))
			h := reconciletest.New(t, shop(nil, row.opts...), reconciletest.With(reconcile.Logger(logger)), reconciletest.Events(sink))
			h.Hold(job1)
			h.Apply(newTea("1"))
			h.RunUntilSettled()
			again := ended("migrate", 1, 1, "Error", hush)
			again["lastState"], again["state"] = again["state"], fields{"waiting": fields{"reason": "CrashLoopBackOff"}}
			pod(t, h, "a", job1, fields{"phase": "Running", "containerStatuses": list{again}})
			h.SetStatus(job1, fields{"startTime": "2020-01-01T00:00:00Z", "active": int64(1)})
			h.RunUntilSettled()
			assert.Contains(t, message(h), `Pod a: container "migrate" waits: CrashLoopBackOff; its last run ended with exit code 1`)
			pod(t, h, "b", job1, failed(ended("migrate", 1, 1, "Error", hush)))
			h.SetStatus(job1, failedJob)
			h.RunUntilSettled()
			want(t, h, "2")
			h.RunUntilSettled()
			status, err := json.Marshal(h.Runs())
			require.NoError(t, err)
			for place, text := range map[string]string{"log": log.String(), "events": events.String(), "calls": string(status)} {
				if row.said && place != "calls" {
					assert.Contains(t, text, hush, place)
				} else if !row.said {
					assert.NotContains(t, text, hush, place)
				}
			}
		})
	}
}
