package watch

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// mostFields bounds how many changed fields of an object are logged.
const mostFields = 5

// brought logs, at level debug, the event that brings an object to reconcile: of which object it is, and which of its
// fields have changed, without their values. It costs nothing if the level is higher.
func (e *Engine) brought(key deploy.Ref, why request.Triggers, event deploy.Event) {
	log := e.options.logger
	if !log.Enabled(e.work, slog.LevelDebug) {
		return
	}
	log.Debug("an event brings an object to reconcile", "object", key, "trigger", why.String(),
		"by", deploy.RefOf(event.New).String(), "event", strings.ToLower(string(event.Type)), "changed", changedFields(event))
}

// changedFields returns the paths of the fields that an event has changed, empty unless it is an update.
func changedFields(event deploy.Event) string {
	if event.Type != deploy.Modified || event.Old == nil {
		return ""
	}
	var fields []string
	for _, change := range deploy.Changes(event.Old.Object, event.New.Object) {
		fields = append(fields, strings.TrimPrefix(change.Path, "."))
	}
	if more := len(fields) - mostFields; more > 0 {
		fields = append(fields[:mostFields], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(fields, ", ")
}
