package reconcile

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/logging"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Channel is the attribute of a logger by which the annotation <domain>/log-filters tells parts of an
// operator apart: s.Logger().With(reconcile.Channel, "billing").
const Channel = logging.Channel

// logged names the resource in log lines: kind and name in text logs, with more fields in JSON.
type logged struct {
	deploy.Ref
	resourceVersion string
}

// MarshalJSON implements json.Marshaler.
func (d logged) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		APIVersion      string `json:"apiVersion"`
		Kind            string `json:"kind"`
		Namespace       string `json:"namespace,omitempty"`
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion,omitempty"`
	}{d.Kind.GroupVersion().String(), d.Kind.Kind, d.Namespace, d.Name, d.resourceVersion})
}

// LoggerOf returns the logger of the reconcile that ctx belongs to, slog.Default outside of one.
func LoggerOf(ctx context.Context) *slog.Logger {
	if logger, ok := ctx.Value(loggerKey{}).(*slog.Logger); ok {
		return logger
	}
	return slog.Default()
}

type loggerKey struct{}

// loggerFor returns base with the levels that the annotations of a resource set: log-default-level for all channels,
// log-filters ("billing:debug,mail:off") for single ones. They apply to this resource only, whatever the level of base.
// Values that can't be parsed are logged and ignored.
func (r *Reconciler) loggerFor(resource *unstructured.Unstructured, base *slog.Logger) *slog.Logger {
	domain := r.manager.KeyDomain()
	annotations := resource.GetAnnotations()
	level, filters := annotations[domain+"/log-default-level"], annotations[domain+"/log-filters"]
	if level == "" && filters == "" {
		return base
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
	logger := slog.New(logging.NewHandler(base.Handler(), leveler, parsed))
	if len(problems) > 0 {
		logger.Warn("logging annotations can't be read", "annotations", strings.Join(problems, "; "))
	}
	return logger
}
