package operator

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/client-go/rest"
)

// Instruments see what a process does. The zero value sees nothing; each field may be left out.
type Instruments struct {
	// Transport is around every request to the API server.
	Transport func(http.RoundTripper) http.RoundTripper
	// Engine are options of the engine, such as watch.Around.
	Engine []watch.Option
	// Reconciler are options of every controller's reconciler, such as reconcile.AroundComponents.
	Reconciler []reconcile.Option
	// Close is called when the process ends, and may take a few seconds.
	Close func(ctx context.Context) error
}

// Instrument has what start returns see what the process of the command run does. Of several the later ones are the inner ones. An error
// ends the command.
func Instrument(start func(ctx context.Context, p Process) (Instruments, error)) Option {
	return func(o *Operator) { o.instruments = append(o.instruments, start) }
}

// closing is how long instruments may take to close.
const closing = 3 * time.Second

// instrument starts the instruments; what it returns closes them.
func (o *Operator) instrument(ctx context.Context, p *process) (stop func(), err error) {
	about := o.about(p)
	stop = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		var errs []error
		for _, one := range slices.Backward(p.instruments) {
			if one.Close != nil {
				errs = append(errs, one.Close(ctx))
			}
		}
		if err := errors.Join(errs...); err != nil {
			p.logger.Warn("not all that was seen of the process is told", "error", err)
		}
	}
	for _, start := range o.instruments {
		if start == nil {
			stop()
			return nil, errors.New("instrument: is nil")
		}
		one, err := start(ctx, about)
		if err != nil {
			stop()
			return nil, err
		}
		p.instruments = append(p.instruments, one)
	}
	return stop, nil
}

// wrap has the requests of a client seen.
func (p *process) wrap(client *rest.Config) {
	for _, one := range slices.Backward(p.instruments) { // the one that wraps first is the innermost
		if one.Transport != nil {
			client.Wrap(one.Transport)
		}
	}
}

// observing are the options of a reconciler by which others see what it does.
func (p *process) observing() (options []reconcile.Option) {
	for _, one := range p.instruments {
		options = append(options, one.Reconciler...)
	}
	if p.events != nil {
		options = append(options, reconcile.Events(p.events))
	}
	return options
}
