package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/cli"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// election holds the settings of leader election.
type election config.LeaderElection

// complete fills in settings that depend on where the process runs. file names the file with the namespace of a Pod.
func (e election) complete(operator, file string, logger *slog.Logger) (election, error) {
	content, err := os.ReadFile(file)
	inPod := err == nil
	unclear := err != nil && !errors.Is(err, fs.ErrNotExist)
	if unclear && (e.Lock == config.AutoLock || e.global() && e.Namespace == "") {
		return e, fmt.Errorf("leader election: the namespace of the Pod: %w: set leader-election.lock and leader-election.namespace", err)
	}
	switch {
	case e.Lock == config.AutoLock && inPod:
		e.Lock = config.LeaseLock
	case e.Lock == config.AutoLock:
		e.Lock = config.NoLock
		logger.Info("leader election is off outside of a Pod: every process of this operator works", "enable", "--leader-election.lock lease")
	}
	e.Name = cmp.Or(e.Name, operator)
	if e.Namespace == "" {
		e.Namespace = strings.TrimSpace(string(content))
	}
	if e.global() && e.Namespace == "" {
		return e, cli.Usage("leader-election.lock %s needs leader-election.namespace outside of a Pod", e.Lock)
	}
	return e, nil
}

// global reports whether one replica holds one lock for all resources.
func (e election) global() bool { return e.Lock == config.LeaseLock || e.Lock == config.ForLifeLock }

func (e election) options(logger *slog.Logger) []leader.Option {
	return []leader.Option{leader.Logger(logger), e.timing()}
}

func (e election) timing() leader.Option {
	return leader.Timing(e.Duration, e.RenewDeadline, e.RetryPeriod)
}

// newElector returns the Elector that decides when this replica works, and a function that closes its connection. The
// Elector has a connection of its own, so that the requests of controllers never delay its requests.
func (e election) newElector(ctx context.Context, client *rest.Config, logger *slog.Logger) (*leader.Elector, func(), error) {
	if !e.global() {
		return leader.None(), func() {}, nil
	}
	client = rest.CopyConfig(client)
	client.UserAgent += "/leader-election"
	if client.Dial == nil {
		client.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	var transport http.RoundTripper
	client.Wrap(func(next http.RoundTripper) http.RoundTripper {
		transport = next
		return next
	})
	api, err := cluster.New(ctx, client, cluster.Logger(logger))
	if err != nil {
		return nil, nil, err
	}
	newLock := leader.Lease
	if e.Lock == config.ForLifeLock {
		newLock = leader.ForLife
	}
	lock, err := newLock(api.Port(), e.Namespace+"/"+e.Name, e.options(logger)...)
	if err != nil {
		return nil, nil, cli.Usage("leader election: %w", err)
	}
	return lock, func() { utilnet.CloseIdleConnectionsFor(transport) }, nil
}

// control adds a reconciler to an engine, with a lock per object if the settings ask for it.
func (r *runner) control(engine *watch.Engine, kind schema.GroupVersionKind, reconciler watch.Reconciler, manager *deploy.Manager) error {
	options := append(slices.Clone(r.operator.engine[kind.GroupKind()]), r.givenEngineOptions()...)
	reconciler, err := r.locked(reconciler, manager)
	if err != nil {
		return err
	}
	return engine.Control(kind, reconciler, options...)
}

// locked returns a reconciler with a lock per object if the settings ask for it.
func (r *runner) locked(reconciler watch.Reconciler, manager *deploy.Manager) (watch.Reconciler, error) {
	if r.election.Lock != config.PerObjectLock {
		return reconciler, nil
	}
	locked, err := leader.PerObject(reconciler, manager, r.election.options(r.logger)...)
	if err != nil {
		return nil, cli.Usage("leader election: %w", err)
	}
	return locked, nil
}

// lossPatience is how long work may go on after the leadership was lost. Such work can't write any more, but it must
// not delay the restart of the process for longer than that.
const lossPatience = 10 * time.Second

// untilLost calls work. If work doesn't return within lossPatience after the leadership was lost, untilLost returns
// anyway.
func untilLost(ctx context.Context, logger *slog.Logger, work func(context.Context) error) error {
	term, leads := leader.TermOf(ctx)
	if !leads {
		return work(ctx)
	}
	ended := make(chan error, 1)
	go func() { ended <- work(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-term.Lost:
		logger.Warn("this replica doesn't lead any more, cancelling its reconciles")
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(lossPatience):
		logger.Error("the leadership is lost, but reconciles don't end: the process exits without waiting for them", "after", lossPatience)
		return nil
	}
}
