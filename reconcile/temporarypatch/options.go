package temporarypatch

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/smp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// DefaultKind is the kind of temporary patches when no other is set.
var DefaultKind = schema.GroupVersionKind{Group: deploy.Domain, Version: "v1", Kind: "TemporaryPatch"}

// Option sets what is rarely set.
type Option func(*options)

type options struct {
	kind   schema.GroupVersionKind
	now    func() time.Time
	logger *slog.Logger
	merge  []smp.Option
	also   []schema.GroupKind
}

// As sets the kind of the patches, for clusters in which the default is somebody else's (spec: patches 9).
// Default: DefaultKind, with the manager's domain as its group.
func As(kind schema.GroupVersionKind) Option { return func(o *options) { o.kind = kind } }

// AlsoReads has targets patched by patches of further kinds too, in any version, where their entries are on a target
// already: by those that another framework has left, such as TemporaryPatch.oper8.org. Nothing keeps such an entry up
// to date, so that their edits don't bring the target to reconcile, and the status of these patches isn't written; the
// entry of one that is gone is removed. The operator needs the right to get them. Entries of all
// other kinds are ignored with a warning (spec: patches 9, 15).
func AlsoReads(kinds ...schema.GroupKind) Option {
	return func(o *options) { o.also = append(o.also, kinds...) }
}

// Clock sets the source of time; default time.Now.
func Clock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// Logger receives warnings about patches that are ignored. Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// Merge sets how bodies are applied, such as smp.InMode(smp.Oper8) for patches that were written for oper8.
func Merge(merge ...smp.Option) Option {
	return func(o *options) { o.merge = append(o.merge, merge...) }
}

func newOptions(group string, opts []Option) (options, error) {
	o := options{kind: DefaultKind, now: time.Now, logger: slog.Default()}
	o.kind.Group = group
	for _, option := range opts {
		option(&o)
	}
	switch {
	case o.now == nil:
		return o, errors.New("clock: is nil")
	case o.logger == nil:
		return o, errors.New("logger: is nil")
	}
	problems := append(wrongIn(o.kind.GroupKind()), validation.IsDNS1035Label(o.kind.Version)...)
	if len(problems) > 0 {
		return o, fmt.Errorf("kind of temporary patches %q: %s", o.kind, strings.Join(problems, "; "))
	}
	for _, kind := range o.also {
		if problems := wrongIn(kind); len(problems) > 0 {
			return o, fmt.Errorf("further kind of temporary patches %q: %s", kind, strings.Join(problems, "; "))
		}
	}
	return o, nil
}

func wrongIn(kind schema.GroupKind) []string {
	return append(validation.IsDNS1123Subdomain(kind.Group), validation.IsDNS1035Label(strings.ToLower(kind.Kind))...)
}
