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
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// election is how the replicas agree, with what the place where the process runs says.
type election config.LeaderElection

// settle fills in what the place where the process runs says: file has the namespace of a Pod.
func (e election) settle(operator, file string, logger *slog.Logger) (election, error) {
	content, err := os.ReadFile(file)
	inPod := err == nil
	unclear := err != nil && !errors.Is(err, fs.ErrNotExist)
	if unclear && (e.Lock == config.AutoLock || e.global() && e.Namespace == "") {
		return e, fmt.Errorf("leader election: the namespace of the Pod: %w: say leader-election.lock and leader-election.namespace", err)
	}
	switch {
	case e.Lock == config.AutoLock && inPod:
		e.Lock = config.LeaseLock
	case e.Lock == config.AutoLock:
		e.Lock = config.NoLock
		logger.Info("every process of this operator works: there is no leader election outside of a Pod", "enable", "--leader-election.lock lease")
	}
	e.Name = cmp.Or(e.Name, operator)
	if e.Namespace == "" {
		e.Namespace = strings.TrimSpace(string(content))
	}
	if e.global() && e.Namespace == "" {
		return e, usage("leader-election.lock %s needs leader-election.namespace outside of a Pod", e.Lock)
	}
	return e, nil
}

// global tells that there is one lock, which one replica has.
func (e election) global() bool { return e.Lock == config.LeaseLock || e.Lock == config.ForLifeLock }

func (e election) options(logger *slog.Logger) []leader.Option {
	return []leader.Option{leader.Logger(logger), leader.Duration(e.Duration), leader.RenewDeadline(e.RenewDeadline), leader.RetryPeriod(e.RetryPeriod)}
}

// newElector returns what decides when this replica works, and what to call when that is no longer needed. It has a
// client of its own, with a connection of its own, so that nothing which the work asks for is in its way.
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
		return nil, nil, usage("leader election: %w", err)
	}
	return lock, func() { utilnet.CloseIdleConnectionsFor(transport) }, nil
}

// control has an engine call a reconciler, for one object at a time of those that other replicas work on too.
func (o *Operator) control(engine *watch.Engine, kind schema.GroupVersionKind, reconciler watch.Reconciler, manager *deploy.Manager, logger *slog.Logger, e election) error {
	if e.Lock != config.PerObjectLock {
		return engine.Control(kind, reconciler)
	}
	locked, err := leader.PerObject(reconciler, manager, append(e.options(logger), leader.Domain(o.domain))...)
	if err != nil {
		return usage("leader election: %w", err)
	}
	return engine.Control(kind, locked)
}

// lossPatience is how long work may take to end after the leadership was lost. It can write nothing any more; what
// doesn't notice must not keep the process from being started again.
const lossPatience = 10 * time.Second

// untilLost does work, and gives it up when it doesn't end although the leadership is lost.
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
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(lossPatience):
		logger.Error("reconciles don't end although the leadership is lost: the process ends without them", "after", lossPatience)
		return nil
	}
}

// lostOf is closed when the leadership is lost under which ctx works; nil for a process that always leads.
func lostOf(ctx context.Context) <-chan struct{} {
	term, _ := leader.TermOf(ctx)
	return term.Lost
}
