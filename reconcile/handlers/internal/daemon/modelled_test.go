package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/stretchr/testify/assert"
)

// modelledDaemon is a daemon. mu of the model is held for its fields.
type modelledDaemon struct {
	commands chan string
	hangs    bool
	alive    int
	// started counts the runs, and told what was reported about them.
	started int
	told    map[What]int
	// uid and cause are those of the present or last run, and last is the last report.
	uid   int
	cause error
	last  Report[claim]
	// doneFor is the uid for which it has returned nil.
	doneFor int
}

// spec returns a daemon that does what it is told.
func (m *model) spec(o *modelled, id int) Spec[claim] {
	d, uid := &o.daemons[id], o.uid
	return Spec[claim]{
		ID: fmt.Sprint(id), Grace: 5 * time.Second, Limits: progress.Limits{Attempts: 3, Within: 20 * time.Minute},
		Retry: func(error, int) (time.Duration, bool) { return time.Second, true },
		Run: func(ctx context.Context, _ Handle[claim]) error {
			m.mu.Lock()
			d.alive++
			d.started++
			d.uid, d.cause = uid, nil
			assert.True(m.t, m.open, "one was started after the end")
			assert.Equal(m.t, 1, d.alive, "two at once")
			assert.NotEqual(m.t, uid, d.doneFor, "one was started again that had ended")
			m.mu.Unlock()
			defer func() {
				m.mu.Lock()
				defer m.mu.Unlock()
				d.alive--
			}()
			return m.obey(ctx, d, uid)
		},
	}
}

func (m *model) obey(ctx context.Context, d *modelledDaemon, uid int) error {
	select {
	case command := <-d.commands:
		switch command {
		case "panic":
			panic(command)
		case "error":
			return errNo
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		d.doneFor = uid
		return nil
	case <-ctx.Done():
	}
	m.mu.Lock()
	hangs := d.hangs
	d.cause = context.Cause(ctx)
	m.mu.Unlock()
	if hangs {
		time.Sleep(time.Minute)
	}
	assert.Equal(m.t, d.cause, context.Cause(ctx), "a second cause")
	return ctx.Err()
}

// tell takes the reports.
func (m *model) tell(r Report[claim]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.objects {
		for id := range o.daemons {
			if o.ref != r.Key || fmt.Sprint(id) != r.ID {
				continue
			}
			d := &o.daemons[id]
			assert.Equal(m.t, r.What == Returned, d.last.What == Abandoned, "%v after %v", r.What, d.last.What)
			d.told[r.What]++
			d.last = r
			if d.cause != nil {
				assert.Equal(m.t, d.cause, r.Stop)
			}
			if r.What == Stopped || r.What == Abandoned || r.What == Returned {
				assert.NotEmpty(m.t, r.Stop)
			}
		}
	}
}

// tell gives a daemon a command, if it is running or will be.
func (d *modelledDaemon) tell(command string) {
	select {
	case d.commands <- command:
	default:
	}
}
