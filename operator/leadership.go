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
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Lock is by what the replicas of an operator agree on the one that works.
type Lock string

// The locks.
const (
	// AutoLock is LeaseLock in a Pod, that is where the service account tells its namespace, and NoLock elsewhere. It
	// is the default.
	AutoLock Lock = "auto"
	// LeaseLock is a Lease, see leader.Lease: another replica takes over when this one is gone for a while.
	LeaseLock Lock = "lease"
	// ForLifeLock is a ConfigMap that the Pod owns, see leader.ForLife: another replica takes over when the Pod is deleted.
	ForLifeLock Lock = "for-life"
	// PerObjectLock has every replica work, each resource by one at a time, see leader.PerObject.
	PerObjectLock Lock = "per-object"
	// NoLock has every replica work on everything.
	NoLock Lock = "none"
)

// LeaderElection says how the replicas of an operator agree on the one that works. What is zero is the default. Flags of
// the command run have the last word.
type LeaderElection struct {
	// Lock is by what they agree; default AutoLock.
	Lock Lock
	// Name is that of the Lease or ConfigMap; default the operator's name.
	Name string
	// Namespace is where that is; default the Pod's. Outside of a Pod it must be given.
	Namespace string
	// Duration is for how long nobody takes a Lease or a resource over that isn't renewed; default leader.DefaultDuration.
	Duration time.Duration
	// RenewDeadline is for how long the replica that works goes on without having renewed; default
	// leader.DefaultRenewDeadline.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two renewals; default leader.DefaultRetryPeriod.
	RetryPeriod time.Duration
}

// Leadership sets how the replicas of the operator agree on the one that works (spec: watch 32).
func Leadership(election LeaderElection) Option { return func(o *Operator) { o.election = election } }

// flags are those of a LeaderElection. Their defaults are what the operator was built with.
func (e *LeaderElection) flags(command *cobra.Command) {
	set := command.Flags()
	e.Lock = cmp.Or(e.Lock, AutoLock)
	set.StringVar((*string)(&e.Lock), "leader-election", string(e.Lock), "by what replicas agree on the one that works: lease, for-life (of its Pod), per-object, none, or auto: lease in a Pod, else none")
	set.StringVar(&e.Name, "leader-election-name", e.Name, "name of the Lease or ConfigMap (default: the operator's)")
	set.StringVar(&e.Namespace, "leader-election-namespace", e.Namespace, "namespace of the Lease or ConfigMap (default: the Pod's)")
	e.Duration = cmp.Or(e.Duration, leader.DefaultDuration)
	e.RenewDeadline = cmp.Or(e.RenewDeadline, leader.DefaultRenewDeadline)
	e.RetryPeriod = cmp.Or(e.RetryPeriod, leader.DefaultRetryPeriod)
	set.Var((*duration)(&e.Duration), "lease-duration", "how long nobody takes over what isn't renewed")
	set.Var((*duration)(&e.RenewDeadline), "renew-deadline", "how long the leader goes on without having renewed")
	set.Var((*duration)(&e.RetryPeriod), "retry-period", "time between two renewals")
}

// electionFlags are the names of the flags above.
var electionFlags = []string{"leader-election", "leader-election-name", "leader-election-namespace", "lease-duration", "renew-deadline", "retry-period"}

// check refuses flags that would be ignored.
func (e *LeaderElection) check(given func(flag string) bool) error {
	var ignored []string
	switch e.Lock {
	case AutoLock, LeaseLock:
	case ForLifeLock:
		ignored = []string{"lease-duration"}
	case PerObjectLock:
		ignored = electionFlags[1:3]
	case NoLock:
		ignored = electionFlags[1:]
	default:
		return usage("--leader-election %q: use auto, lease, for-life, per-object or none", e.Lock)
	}
	for _, flag := range ignored {
		if given(flag) {
			return usage("--%s has no meaning with --leader-election %s", flag, e.Lock)
		}
	}
	return nil
}

// settle fills in what the place where the process runs says: file has the namespace of a Pod.
func (e LeaderElection) settle(operator, file string, logger *slog.Logger) (LeaderElection, error) {
	content, err := os.ReadFile(file)
	inPod := err == nil
	unclear := err != nil && !errors.Is(err, fs.ErrNotExist)
	if unclear && (e.Lock == AutoLock || e.global() && e.Namespace == "") {
		return e, fmt.Errorf("leader election: the namespace of the Pod: %w: give --leader-election and --leader-election-namespace", err)
	}
	switch {
	case e.Lock == AutoLock && inPod:
		e.Lock = LeaseLock
	case e.Lock == AutoLock:
		e.Lock = NoLock
		logger.Info("every process of this operator works: there is no leader election outside of a Pod", "enable", "--leader-election lease")
	}
	e.Name = cmp.Or(e.Name, operator)
	if e.Namespace == "" {
		e.Namespace = strings.TrimSpace(string(content))
	}
	if e.global() && e.Namespace == "" {
		return e, usage("--leader-election %s needs --leader-election-namespace outside of a Pod", e.Lock)
	}
	return e, nil
}

// global tells that there is one lock, which one replica has.
func (e LeaderElection) global() bool { return e.Lock == LeaseLock || e.Lock == ForLifeLock }

func (e LeaderElection) options(logger *slog.Logger) []leader.Option {
	return []leader.Option{leader.Logger(logger), leader.Duration(e.Duration), leader.RenewDeadline(e.RenewDeadline), leader.RetryPeriod(e.RetryPeriod)}
}

// newElector returns what decides when this replica works, and what to call when that is no longer needed. It has a
// client of its own, with a connection of its own, so that nothing which the work asks for is in its way.
func (e LeaderElection) newElector(ctx context.Context, config *rest.Config, logger *slog.Logger) (*leader.Elector, func(), error) {
	if !e.global() {
		return leader.None(), func() {}, nil
	}
	config = rest.CopyConfig(config)
	config.UserAgent += "/leader-election"
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	var transport http.RoundTripper
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		transport = next
		return next
	})
	api, err := cluster.New(ctx, config, cluster.Logger(logger))
	if err != nil {
		return nil, nil, err
	}
	newLock := leader.Lease
	if e.Lock == ForLifeLock {
		newLock = leader.ForLife
	}
	lock, err := newLock(api.Port(), e.Namespace+"/"+e.Name, e.options(logger)...)
	if err != nil {
		return nil, nil, usage("leader election: %w", err)
	}
	return lock, func() { utilnet.CloseIdleConnectionsFor(transport) }, nil
}

// control has an engine call a reconciler, for one object at a time of those that other replicas work on too.
func (o *Operator) control(engine *watch.Engine, kind schema.GroupVersionKind, reconciler watch.Reconciler, manager *deploy.Manager, logger *slog.Logger, election LeaderElection) error {
	if election.Lock != PerObjectLock {
		return engine.Control(kind, reconciler)
	}
	locked, err := leader.PerObject(reconciler, manager, append(election.options(logger), leader.Domain(o.domain))...)
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
