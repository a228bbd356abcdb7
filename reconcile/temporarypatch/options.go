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
}

// As sets the kind of the patches, for clusters in which the default is somebody else's (spec: patches 9).
// Default: DefaultKind, with the manager's domain as its group.
func As(kind schema.GroupVersionKind) Option { return func(o *options) { o.kind = kind } }

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
	var problems []string
	problems = append(problems, validation.IsDNS1123Subdomain(o.kind.Group)...)
	problems = append(problems, validation.IsDNS1035Label(o.kind.Version)...)
	problems = append(problems, validation.IsDNS1035Label(strings.ToLower(o.kind.Kind))...)
	if len(problems) > 0 {
		return o, fmt.Errorf("kind of temporary patches %q: %s", o.kind, strings.Join(problems, "; "))
	}
	return o, nil
}
