package leader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"time"

	"github.com/operkit/operkit/deploy"
)

// The times that hold without an option: what an operator stands still for when its leader dies, and what one renewal
// in two seconds costs the API server.
const (
	DefaultDuration      = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// longestDuration is the limit of the field that holds the seconds.
const longestDuration = math.MaxInt32 * time.Second

// Option sets what is rarely set.
type Option func(*options)

type options struct {
	duration time.Duration
	deadline time.Duration
	retry    time.Duration
	identity string
	domain   string
	logger   *slog.Logger
	// namespaceFile is where a Pod is told its namespace.
	namespaceFile string
}

// Duration is for how long nobody else takes the Lease after its last renewal; default DefaultDuration. The
// Lease holds whole seconds, so that it is rounded up. It is what an operator stands still for when its
// leader dies, and the margin between it and the renew deadline is for the calls that are under way.
func Duration(d time.Duration) Option { return func(o *options) { o.duration = d } }

// RenewDeadline is for how long the holder goes on without having renewed; default DefaultRenewDeadline. It counts
// from when the last successful renewal was sent. It must be shorter than Duration.
func RenewDeadline(d time.Duration) Option { return func(o *options) { o.deadline = d } }

// RetryPeriod is the time between two renewals; default DefaultRetryPeriod. Two of them must fit into the renew
// deadline. A candidate looks twice as often, less often by up to a fifth at random.
func RetryPeriod(d time.Duration) Option { return func(o *options) { o.retry = d } }

// Identity is the name of this replica in the lock and in logs; default the environment's POD_NAME, else
// the host's name without its domain. Something random is added, so that no two processes ever have the
// same one.
func Identity(name string) Option { return func(o *options) { o.identity = name } }

// Domain is that of the annotations of PerObject; default deploy.Domain. Other locks have none.
func Domain(domain string) Option { return func(o *options) { o.domain = domain } }

// Logger receives who leads, once per change, and what keeps the lock from being read or renewed.
// Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// Check tells what is wrong with options, without a lock.
func Check(opts ...Option) error {
	_, err := newOptions(opts)
	return err
}

func newOptions(opts []Option) (options, error) {
	o := options{
		duration: DefaultDuration, deadline: DefaultRenewDeadline, retry: DefaultRetryPeriod, domain: deploy.Domain, logger: slog.Default(),
		namespaceFile: NamespaceFile,
	}
	for _, option := range opts {
		option(&o)
	}
	switch {
	case o.retry <= 0:
		return o, fmt.Errorf("retry period: %s: it must be positive", o.retry)
	case o.deadline < 2*o.retry:
		return o, fmt.Errorf("renew deadline: %s: two retry periods of %s don't fit into it", o.deadline, o.retry)
	case o.duration <= o.deadline:
		return o, fmt.Errorf("duration: %s: it must be longer than the renew deadline of %s", o.duration, o.deadline)
	case o.duration > longestDuration:
		return o, fmt.Errorf("duration: %s: more than %s can't be written down", o.duration, longestDuration)
	case o.logger == nil:
		return o, errors.New("logger: is nil")
	}
	return o, nil
}

// seconds is the duration as a Lease holds it. Rounded down it would run out before its holder thinks.
func (o options) seconds() int64 { return int64((o.duration + time.Second - 1) / time.Second) }

// attempt bounds one attempt to take or keep the lock, so that another one fits in before the deadline
// when an answer never comes.
func (o options) attempt() time.Duration { return o.deadline / 2 }

// try calls do with the time limit of an attempt. A panic is an error: it must not end the renewals.
func (o options) try(ctx context.Context, do func(context.Context) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, o.attempt())
	defer cancel()
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, debug.Stack()}
		}
	}()
	return do(ctx)
}
