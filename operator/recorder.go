package operator

import (
	"context"
	"os"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/event"
)

// openEvents has events written until the returned function is called, which waits for the last ones.
func (o *Operator) openEvents(ctx context.Context, p *process, port deploy.Port) (stop func()) {
	if p.Events.Level == config.NoEvents {
		return func() {}
	}
	recorder := event.NewRecorder(port, o.name, instance(o.name), event.Logger(p.logger))
	if p.events = recorder; p.Events.Level == config.WarningEvents {
		p.events = event.Warnings(recorder)
	}
	p.metrics.Events(recorder.Dropped)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { recorder.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// instance is the name of the process, for people.
func instance(operator string) string {
	if pod := os.Getenv("POD_NAME"); pod != "" {
		return pod
	}
	if host, err := os.Hostname(); err == nil {
		return operator + "-" + host
	}
	return operator
}
