package lifecycle

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Lifecycle has what the reconciles of all resources of one kind share. Its fields are set before the first call. It is
// safe for concurrent use.
type Lifecycle struct {
	// Kind is the kind of the resources.
	Kind    schema.GroupVersionKind
	Manager *deploy.Manager
	Logger  *slog.Logger
	Now     func() time.Time
	// Version returns the version by which a resource is counted, nil for none.
	Version func(resource *unstructured.Unstructured) string
	// States names the states of components in a Tally, in the order of memory.Count; nil for a style without
	// components.
	States []string
	// Recheck is the time after which Rest tries again to report a pause, if the status couldn't be written.
	Recheck time.Duration
	// NoStatus: nothing is written into the status.
	NoStatus bool
	// DryRun: no resource is paused, resources aren't counted, and Flush writes nothing.
	DryRun bool
	// PauseDeletions: a paused resource isn't finalized either.
	PauseDeletions bool
	// QuietPause: a pause isn't reported in the status, for kinds whose conditions belong to others.
	QuietPause bool
	Memory     memory.Memory

	// own are the conditions that the user has declared, nil for none.
	own     *status.Declaration
	dropped droppedFields
}

// SetStatus writes the status that change returns, if changed is true. Fields that the schema drops are left out,
// and a status that is too large for the cluster is shortened. With NoStatus it does nothing. change must not modify
// present, which is shared.
func (l *Lifecycle) SetStatus(
	ctx context.Context, resource *unstructured.Unstructured, log *slog.Logger,
	change func(present map[string]any) (next map[string]any, changed bool, err error),
) (deploy.Result, error) {
	if l.NoStatus {
		return deploy.Result{}, nil
	}
	var sent map[string]any
	result, err := Fitting(log, func(step int) (deploy.Result, error) {
		return l.Manager.SetStatus(ctx, deploy.RefOf(resource), func(current *unstructured.Unstructured) (map[string]any, error) {
			sent = nil
			present, _ := current.Object["status"].(map[string]any)
			if current.GetUID() != resource.GetUID() {
				return present, nil
			}
			next, changed, err := change(present)
			if err != nil || !changed {
				return present, err
			}
			sent = Shortened(l.dropped.without(l.Now(), next, present), present, step)
			return sent, nil
		})
	})
	if err != nil || sent == nil || result.Object == nil {
		return result, err
	}
	written, _ := result.Object.Object["status"].(map[string]any)
	if missing := l.dropped.record(l.Now(), sent, written); len(missing) > 0 {
		log.Warn("the CustomResourceDefinition drops fields of the status: add these fields to its schema",
			"fields", strings.Join(missing, ", "))
	}
	return result, nil
}

// LoggerFor returns the Logger with the levels that the annotations of a resource set: log-default-level for all
// channels, log-filters ("billing:debug,mail:off") for single channels. They apply only to this resource, whatever the
// level of the Logger. Values that can't be parsed are logged and ignored.
func (l *Lifecycle) LoggerFor(resource *unstructured.Unstructured) *slog.Logger {
	domain := l.Manager.KeyDomain()
	annotations := resource.GetAnnotations()
	level, filters := annotations[domain+"/log-default-level"], annotations[domain+"/log-filters"]
	if level == "" && filters == "" {
		return l.Logger
	}
	var leveler slog.Leveler
	var problems []string
	if parsed, err := logging.ParseLevel(level); err == nil {
		leveler = parsed
	} else if level != "" {
		problems = append(problems, "log-default-level: "+err.Error())
	}
	parsed, err := logging.ParseFilters(filters)
	if err != nil {
		problems = append(problems, "log-filters: "+err.Error())
	}
	logger := slog.New(logging.NewHandler(l.Logger.Handler(), leveler, parsed))
	if len(problems) > 0 {
		logger.Warn("logging annotations can't be read", "annotations", strings.Join(problems, "; "))
	}
	return logger
}
