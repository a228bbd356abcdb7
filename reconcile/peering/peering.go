package peering

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/logging"
	"k8s.io/apimachinery/pkg/util/validation"
)

// ErrPaused is the cause with which the context of work ends when a process pauses.
var ErrPaused = errors.New("paused because of another process of the operator")

// Config says who a process is among its peers.
type Config struct {
	Group
	// Priority decides which of several processes works.
	Priority int
	// Election names the leader election that this process leads while Run runs, empty if there is none.
	Election string
	// Timing are the times of the process's own Lease, see leader.Timing. Zero times are the defaults.
	Timing leader.Option
	// Logger logs; nil is slog.Default.
	Logger *slog.Logger
	// Changed, if not nil, is called with each new Verdict about this process, by one goroutine at a time.
	Changed func(Verdict)
}

// Peering lets one of several processes of an operator work. A nil Peering has no peers.
type Peering struct {
	config  Config
	port    deploy.Port
	view    deploy.View
	self    Peer
	own     *leader.Elector
	table   *table
	changed chan struct{}
	// last is the last Verdict that was reported. It is used by one goroutine at a time.
	last *Verdict
}

// New returns the Peering of a process. cluster should be a client of its own that watches no other Leases than those
// that Group.Selector selects in the group's namespace, and must not go through Transport. Nothing is sent before Run.
func New(cluster deploy.Cluster, c Config) (*Peering, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if problems := validation.IsValidLabelValue(c.Operator); c.Operator == "" || len(problems) > 0 {
		return nil, fmt.Errorf("peering: operator %q: its name has to be a label: %s", c.Operator, strings.Join(problems, "; "))
	}
	self := Peer{Lease: c.Operator + "-peer-" + strings.ToLower(rand.Text()[:10]), Priority: c.Priority, Election: c.Election}
	marks := map[string]string{c.priorityKey(): strconv.Itoa(c.Priority)}
	if c.Election != "" {
		marks[c.electionKey()] = c.Election
	}
	own, err := leader.Lease(cluster.Port(), c.Namespace+"/"+self.Lease, c.Timing,
		leader.Marks(map[string]string{c.labelKey(): c.Operator}, marks),
		// What leads here is the process among itself: only what goes wrong is worth a line.
		leader.Logger(slog.New(logging.NewHandler(c.Logger.Handler(), slog.LevelWarn, nil))))
	if err != nil {
		return nil, fmt.Errorf("peering: %w", err)
	}
	self.Holder = own.Identity()
	return &Peering{
		config: c, port: cluster.Port(), view: cluster.View(), self: self, own: own, table: newTable(c.Group), changed: make(chan struct{}, 1),
	}, nil
}

// Transport refuses requests while this process may not work because its own Lease isn't renewed, see
// leader.Elector.Transport. It doesn't refuse requests of a process that pauses, which ends its work in good order.
func (p *Peering) Transport(next http.RoundTripper) http.RoundTripper {
	if p == nil {
		return next
	}
	return p.own.Transport(next)
}

// Run announces this process to its peers, and calls work while none of them makes it pause. When it has to pause, the
// context of work ends with the cause ErrPaused; when work has returned, Run waits and calls work again. While the
// Lease of this process can't be renewed, it doesn't work either: then the Term of the context is lost (leader.TermOf).
//
// Run returns when ctx has ended, or with the result of a work that has ended by itself. It then deletes the Lease.
func (p *Peering) Run(ctx context.Context, work func(ctx context.Context) error) error {
	if p == nil {
		return work(ctx)
	}
	outer, _ := leader.TermOf(ctx)
	for {
		err := p.own.Run(ctx, func(ctx context.Context) error {
			inner, _ := leader.TermOf(ctx)
			ended := make(chan struct{})
			defer close(ended)
			return p.among(leader.WithTerm(ctx, both(outer, inner, ended)), work)
		})
		p.leave(ctx)
		if ctx.Err() != nil || !errors.Is(err, leader.ErrLost) {
			return err
		}
		p.config.Logger.WarnContext(ctx, "this process had to stop, because its peers may not see it any more: it tries again", "error", err)
	}
}

// both returns a term that is lost when one of two terms is, until ended is closed. It is shown as the outer one unless
// there is none.
func both(outer, inner leader.Term, ended <-chan struct{}) leader.Term {
	if outer.Lost == nil {
		return inner
	}
	lost, outerLost := make(chan struct{}), outer.Lost
	go func() {
		select {
		case <-outerLost:
			close(lost)
		case <-inner.Lost:
			close(lost)
		case <-ended:
		}
	}()
	outer.Lost = lost
	return outer
}

// leave deletes the Lease, so that nobody waits until it runs out.
func (p *Peering) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	ref := deploy.Ref{Kind: leaseKind, Namespace: p.config.Namespace, Name: p.self.Lease}
	if err := p.port.Delete(ctx, ref, deploy.DeleteOptions{}); err != nil {
		p.config.Logger.DebugContext(ctx, "the Lease of this process wasn't deleted", "error", err)
	}
}

// among works while no peer makes this process pause.
func (p *Peering) among(ctx context.Context, work func(ctx context.Context) error) error {
	if !p.follow(ctx) {
		return nil
	}
	for p.awaitTurn(ctx) {
		if again, err := p.turn(ctx, work); !again {
			return err
		}
	}
	return nil
}

// turn calls work until this process has to pause. again means that it was called to pause.
func (p *Peering) turn(ctx context.Context, work func(ctx context.Context) error) (again bool, err error) {
	working, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	defer func() { cancel(nil); <-watched }()
	go func() {
		defer close(watched)
		if p.awaitPause(working) {
			cancel(ErrPaused)
		}
	}()
	err = work(working)
	paused := errors.Is(context.Cause(working), ErrPaused) && ctx.Err() == nil
	if paused && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, ErrPaused)) {
		return true, nil
	}
	return false, err
}

// awaitTurn waits until nothing makes this process pause. It returns false when ctx has ended.
func (p *Peering) awaitTurn(ctx context.Context) bool {
	for ctx.Err() == nil {
		v := p.verdict(ctx)
		p.report(ctx, v)
		if !v.Paused() {
			return true
		}
		if v.Why == Frozen && p.age(ctx) {
			continue // it ends sooner
		}
		p.await(ctx, v.Until)
	}
	return false
}

// awaitPause waits until something makes this process pause. It returns false when ctx has ended.
func (p *Peering) awaitPause(ctx context.Context) bool {
	for ctx.Err() == nil {
		if v := p.verdict(ctx); v.Paused() && ctx.Err() == nil {
			p.report(ctx, v)
			return true
		}
		next := p.table.next(p.self.Lease) // to delete the Lease of a lower one that has run out
		if soon := time.Now().Add(again); !next.IsZero() && next.Before(soon) {
			next = soon
		}
		p.await(ctx, next)
	}
	return false
}

// await returns when a Lease has changed, at a time unless it is zero, or when ctx ends.
func (p *Peering) await(ctx context.Context, until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-p.changed:
	case <-due:
	}
}
