package leader

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"
)

// Option sets what is rarely set.
type Option func(*options)

type options struct {
	duration time.Duration
	deadline time.Duration
	retry    time.Duration
	identity string
	logger   *slog.Logger
	// namespaceFile is where a Pod is told its namespace.
	namespaceFile string
}

// Duration is for how long nobody else takes the Lease after its last renewal; default 15 seconds. The
// Lease holds whole seconds, so that it is rounded up. It is what an operator stands still for when its
// leader dies, and the margin between it and the renew deadline is for the calls that are under way.
func Duration(d time.Duration) Option { return func(o *options) { o.duration = d } }

// RenewDeadline is for how long the holder goes on without having renewed; default 10 seconds. It counts
// from when the last successful renewal was sent. It must be shorter than Duration.
func RenewDeadline(d time.Duration) Option { return func(o *options) { o.deadline = d } }

// RetryPeriod is the time between two renewals; default 2 seconds. Two of them must fit into the renew
// deadline. A candidate looks twice as often, less often by up to a fifth at random.
func RetryPeriod(d time.Duration) Option { return func(o *options) { o.retry = d } }

// Identity is the name of this replica in the lock and in logs; default the environment's POD_NAME, else
// the host's name without its domain. Something random is added, so that no two processes ever have the
// same one.
func Identity(name string) Option { return func(o *options) { o.identity = name } }

// Logger receives who leads, once per change, and what keeps the lock from being read or renewed.
// Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

func newOptions(opts []Option) (options, error) {
	o := options{
		duration: 15 * time.Second, deadline: 10 * time.Second, retry: 2 * time.Second, logger: slog.Default(),
		namespaceFile: "/var/run/secrets/kubernetes.io/serviceaccount/namespace",
	}
	for _, option := range opts {
		option(&o)
	}
	// A limit, because the field that holds the seconds has one.
	const longest = math.MaxInt32 * time.Second
	switch {
	case o.retry <= 0:
		return o, fmt.Errorf("retry period: %s: it must be positive", o.retry)
	case o.deadline < 2*o.retry:
		return o, fmt.Errorf("renew deadline: %s: two retry periods of %s don't fit into it", o.deadline, o.retry)
	case o.duration <= o.deadline:
		return o, fmt.Errorf("duration: %s: it must be longer than the renew deadline of %s", o.duration, o.deadline)
	case o.duration > longest:
		return o, fmt.Errorf("duration: %s: more than %s can't be written down", o.duration, longest)
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
