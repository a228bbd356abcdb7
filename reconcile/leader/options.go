package leader

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strings"
	"time"

	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The defaults of Timing.
const (
	DefaultDuration      = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// longestDuration is the limit of the field of a Lease that holds the seconds.
const longestDuration = math.MaxInt32 * time.Second

// Option is an option of the electors. The last one of a kind wins; nil is ignored.
type Option func(*options)

type options struct {
	duration time.Duration
	deadline time.Duration
	retry    time.Duration
	identity string
	logger   *slog.Logger
	// labels and annotations are those of the Lease.
	labels, annotations map[string]string
	// namespaceFile is NamespaceFile, except in tests.
	namespaceFile string
}

// Timing sets when a lock is renewed, given up and taken over. Zero means the default: DefaultDuration for the
// duration. The defaults of the other two are the same shares of the duration as DefaultRenewDeadline and
// DefaultRetryPeriod are of DefaultDuration.
//
// duration is the time after the last renewal before which no other replica takes the lock. A Lease holds it in
// seconds, rounded up. When a leader dies, no replica leads for that long. Locks that are held for life have no
// duration.
//
// renewDeadline is how long the holder goes on working after it sent its last successful renewal. It must be shorter
// than the duration: calls that are still running at the deadline have the rest of the duration to end.
//
// retryPeriod is the time between two renewals. Two such periods must fit into the renew deadline. A candidate tries
// twice as often. Up to a fifth of the time is added at random.
func Timing(duration, renewDeadline, retryPeriod time.Duration) Option {
	return func(o *options) { o.duration, o.deadline, o.retry = duration, renewDeadline, retryPeriod }
}

// Identity sets the name of this replica in the lock and in logs; by default the environment variable POD_NAME, or else
// the host's name without its domain. A random end is added, so that no two processes have the same name.
func Identity(name string) Option { return func(o *options) { o.identity = name } }

// Logger sets the logger for changes of the leader, and for errors of reading and renewing the lock; default
// slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// Marks sets labels and annotations of the Lease, by which others find it. Locks of other kinds don't have them.
func Marks(labels, annotations map[string]string) Option {
	return func(o *options) { o.labels, o.annotations = labels, annotations }
}

// Check returns an error if the options are invalid.
func Check(opts ...Option) error {
	_, err := newOptions(opts)
	return err
}

func newOptions(opts []Option) (options, error) {
	o := options{logger: slog.Default(), namespaceFile: NamespaceFile}
	optional.Apply(&o, opts)
	o.duration = cmp.Or(o.duration, DefaultDuration)
	o.deadline = cmp.Or(o.deadline, share(o.duration, DefaultRenewDeadline))
	o.retry = cmp.Or(o.retry, share(o.duration, DefaultRetryPeriod))
	switch {
	case o.retry <= 0:
		return o, fmt.Errorf("retry period: %s: it must be positive", o.retry)
	case o.deadline < 2*o.retry:
		return o, fmt.Errorf("renew deadline: %s: two retry periods of %s don't fit into it", o.deadline, o.retry)
	case o.duration <= o.deadline:
		return o, fmt.Errorf("duration: %s: it must be longer than the renew deadline of %s", o.duration, o.deadline)
	case o.duration > longestDuration:
		return o, fmt.Errorf("duration: %s: more than %s doesn't fit into a Lease", o.duration, longestDuration)
	case o.logger == nil:
		return o, errors.New("nil logger")
	}
	return o, nil
}

// share returns duration, scaled by the ratio of of, a default, to DefaultDuration.
func share(duration, of time.Duration) time.Duration {
	return time.Duration(float64(duration) * (float64(of) / float64(DefaultDuration)))
}

// seconds is the duration as a Lease holds it, rounded up, so that the Lease doesn't run out before its holder expects
// this.
func (o options) seconds() int64 { return int64((o.duration + time.Second - 1) / time.Second) }

// try calls do for one attempt to take or keep the lock. It bounds the attempt, so that another attempt fits in before
// the deadline if no answer comes. A panic is returned as an error, so that it doesn't end the renewals.
func (o options) try(ctx context.Context, do func(context.Context) error) error {
	_, err := attempt(ctx, o, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}

// attempt is try for an attempt that returns the state of the lock.
func attempt[T any](ctx context.Context, o options, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, o.deadline/2)
	defer cancel()
	return failure.Value(func() (T, error) { return do(ctx) })
}

// replica returns the name of this replica, without its random end.
func (o options) replica() (string, error) {
	if name := strings.TrimSpace(o.identity); name != "" {
		return name, nil
	}
	if name := strings.TrimSpace(os.Getenv("POD_NAME")); name != "" {
		return name, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("identity: set POD_NAME or the option leader.Identity: %w", err)
	}
	name, _, _ := strings.Cut(host, ".")
	if name == "" {
		return "", errors.New("identity: the host has no name: set POD_NAME or the option leader.Identity")
	}
	return name, nil
}

// NamespaceFile is the file in which a Pod finds the namespace of its service account. Outside of a Pod it doesn't
// exist.
const NamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// unique adds a random end to the name of a replica, so that a restarted container doesn't take the lock of the
// container before it for its own: calls of that container may still be under way.
func unique(replica string) string { return replica + "_" + strings.ToLower(rand.Text()[:10]) }

// place reads "namespace/name", or "name" alone in the namespace of the service account.
func (o options) place(name string) (string, string, error) {
	namespace, base, both := strings.Cut(name, "/")
	if !both {
		base = name
		content, err := os.ReadFile(o.namespaceFile)
		if err != nil {
			return "", "", fmt.Errorf("name %q: it has no namespace, and no file of a service account names one: write namespace/name: %w", name, err)
		}
		namespace = strings.TrimSpace(string(content))
	}
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return "", "", fmt.Errorf("name %q: namespace %q: %s", name, namespace, problems[0])
	}
	if problems := validation.IsDNS1123Subdomain(base); len(problems) > 0 {
		return "", "", fmt.Errorf("name %q: %s", name, problems[0])
	}
	return namespace, base, nil
}
