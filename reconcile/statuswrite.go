package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
)

// writeStatus writes the report into the status, in one write at most, and none when nothing changes. It returns an
// error only if writing again makes sense. Other errors are logged.
func (r *Reconciler) writeStatus(ctx context.Context, s *Session, rep report) error {
	err := r.setStatus(ctx, s, func(present map[string]any) (status.Application, bool) {
		return r.application(s, rep, present), true
	})
	if err == nil {
		if rep.outcome != nil && len(s.unwritten) > 0 {
			s.update(func(m *memory.Resource) { m.Unwritten = nil })
		}
		return nil
	}
	s.keepUnwritten(rep.outcome)
	unwritten := fmt.Errorf("status not written: %w", err)
	switch after, unavailable := isUnavailable(err); {
	case unavailable && after > 0:
		return request.RetryAfter(after, unwritten)
	case unavailable:
		return unwritten
	case request.Resolve(err).Passing, failure.Is[*deploy.ForbiddenError](err):
		// An API server that has just started may refuse a request that it allows a moment later. Repeated refusals are
		// reported.
		return &request.Error{Quiet: true, Err: unwritten}
	}
	s.logger.Warn("status not written", "error", err)
	return nil
}

// start reports in the status that a rollout has begun: immediately when the version changes, otherwise only after
// StartAfter, so that a short rollout costs no write for it. Call end before the end of the rollout is written.
func (r *Reconciler) start(ctx context.Context, s *Session) (end func()) {
	if r.options.dryRun {
		return func() {}
	}
	current := s.CurrentVersion()
	changes := current != "" && s.version != "" && current != s.version
	switch {
	case changes && s.underWay():
		// The start was reported before. Reporting it again would overwrite later reports.
		return func() {}
	case changes:
		r.writeStart(ctx, s)
		return func() {}
	case r.options.startAfter == 0:
		return func() {}
	}
	done := make(chan struct{})
	timer := time.AfterFunc(r.options.startAfter, func() {
		defer close(done)
		r.writeStart(ctx, s)
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// underWay reports whether the status reports unfinished work on the present generation.
func (s *Session) underWay() bool {
	updating, ok := status.Conditions(s.resource).Get(status.ConditionUpdating)
	return ok && updating.ObservedGeneration == s.resource.GetGeneration() && updating.Reason != string(status.UpdatingStable)
}

// writeStart writes the start of a rollout. An error is only logged: the end of the rollout is written later.
func (r *Reconciler) writeStart(ctx context.Context, s *Session) {
	err := r.setStatus(ctx, s, func(present map[string]any) (status.Application, bool) {
		ready, updating := status.ForStart(present, s.version)
		return status.Application{
			Ready: ready, Updating: updating, SupportedVersions: r.options.supported, Generation: s.resource.GetGeneration(),
			OnlyReady: r.options.has(OnlyReady),
		}, ready.Reason != "" || updating.Reason != ""
	})
	if err != nil {
		s.logger.Info("start status not written", "error", err)
	}
}

// shortenedMark ends the messages of the conditions Ready and Updating in a status that is shortened.
const shortenedMark = " (shortened: the whole status is too large for the cluster to store)"

// shortening is one step by which a status that is too large is made smaller.
type shortening struct {
	// message bounds the messages of the conditions, in bytes. names: components are still listed.
	message int
	names   bool
}

// shortenings are tried in order until the cluster accepts the status. The messages of components are dropped first,
// then their names. Their number stays, and so do the kinds of their objects, which pruning needs.
var shortenings = []shortening{{message: 4096, names: true}, {message: 1024}, {message: 256}}

// tooLarge reports whether a write was refused because the object is larger than what the cluster stores.
func tooLarge(err error) bool {
	invalid, ok := errors.AsType[*deploy.InvalidError](err)
	return ok && invalid.TooLarge
}

// fitting calls write with the steps of shortenings, until the status isn't too large.
func fitting(log *slog.Logger, write func(step int) (deploy.Result, error)) (deploy.Result, error) {
	for step := 0; ; step++ {
		result, err := write(step)
		if !tooLarge(err) || step == len(shortenings) {
			return result, err
		}
		log.Warn("the status is too large for the cluster to store: it is shortened", "step", step+1, "error", err)
	}
}

// shortened returns the status to write: next, shortened by the given step; step 0 is the first try. If the present
// status equals next after some step, step 0 returns present, so that the whole status, which the cluster refuses,
// isn't sent in each reconcile. Neither next nor present is changed.
func shortened(next, present map[string]any, step int) map[string]any {
	switch {
	case step > 0:
		return shortenings[step-1].of(next)
	case !isShortened(present):
		return next
	}
	for _, s := range shortenings {
		if !status.Changed(present, s.of(next)) {
			return present
		}
	}
	return withMessages(next, func(_, message string) string { return strings.TrimSuffix(message, shortenedMark) })
}

// isShortened reports whether a status is shortened.
func isShortened(content map[string]any) bool {
	list, _ := content["conditions"].([]any)
	return slices.ContainsFunc(list, func(item any) bool {
		condition, _ := item.(map[string]any)
		message, _ := condition["message"].(string)
		return strings.HasSuffix(message, shortenedMark)
	})
}

// of returns a shortened copy of a status.
func (s shortening) of(next map[string]any) map[string]any {
	out := withMessages(next, func(condition, message string) string {
		message = cut(strings.TrimSuffix(message, shortenedMark), s.message)
		if condition == status.ConditionReady || condition == status.ConditionUpdating {
			message += shortenedMark
		}
		return message
	})
	if components, _ := out["componentStatus"].(map[string]any); components != nil {
		out["componentStatus"] = s.components(components)
	}
	return out
}

// components returns a shortened copy of the component status.
func (s shortening) components(whole map[string]any) map[string]any {
	out := maps.Clone(whole)
	delete(out, "componentMessages")
	delete(out, "dependencyGraph")
	for key, value := range out {
		if list, isList := value.([]any); isList && key != "kinds" {
			out[key] = s.list(list)
		}
	}
	return out
}

// list returns the names of components without their messages, or an empty list if names aren't kept.
func (s shortening) list(whole []any) []any {
	if !s.names {
		return []any{}
	}
	out := slices.Clone(whole)
	for i, item := range out {
		if component, explained := item.(map[string]any); explained {
			out[i] = map[string]any{"name": component["name"]}
		}
	}
	return out
}

// ownConditions are the types of the conditions that this package writes.
var ownConditions = []string{status.ConditionReady, status.ConditionUpdating, status.ConditionReconciling, status.ConditionStalled}

// withMessages returns a copy of a status in which change has replaced the messages of our own conditions.
func withMessages(content map[string]any, change func(condition, message string) string) map[string]any {
	out := maps.Clone(content)
	list, isList := out["conditions"].([]any)
	if !isList {
		return out
	}
	list = slices.Clone(list)
	for i, item := range list {
		condition, _ := item.(map[string]any)
		kind, _ := condition["type"].(string)
		if message, isText := condition["message"].(string); isText && slices.Contains(ownConditions, kind) {
			condition = maps.Clone(condition)
			condition["message"] = change(kind, message)
			list[i] = condition
		}
	}
	out["conditions"] = list
	return out
}

// cut returns text, shortened to limit bytes if it is longer. The result is valid UTF-8 if text is.
func cut(text string, limit int) string {
	const more = "..."
	if len(text) <= limit {
		return text
	}
	end := limit - len(more)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}

// droppedFields remembers which fields of the status the kind's schema drops, at any depth: writing them in every
// reconcile would cost a call that changes nothing. After sentAgain the fields are sent again, since the schema may
// have been corrected. A field that is found in a stored status is removed from the list. It is safe for concurrent
// use.
type droppedFields struct {
	mu sync.Mutex
	// fields holds the time until which a field isn't sent. The keys are paths such as ".componentStatus.deployed" or
	// ".conditions[].reason".
	fields map[string]time.Time
}

// sentAgain is the time after which a dropped field is sent again.
const sentAgain = 10 * time.Minute

// without returns status without the fields that are known to be dropped. Fields of stored, the present status, count
// as not dropped. The result may share parts of status.
func (d *droppedFields) without(now time.Time, status, stored map[string]any) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.fields) == 0 {
		return status
	}
	d.forget("", stored)
	return d.remove(now, "", status).(map[string]any)
}

// forget removes the fields that are stored.
func (d *droppedFields) forget(path string, stored any) {
	switch v := stored.(type) {
	case map[string]any:
		for field, item := range v {
			at := path + "." + field
			delete(d.fields, at)
			d.forget(at, item)
		}
	case []any:
		for _, item := range v {
			d.forget(path+"[]", item)
		}
	}
}

func (d *droppedFields) remove(now time.Time, path string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for field, item := range v {
			if at := path + "." + field; !now.Before(d.fields[at]) {
				kept[field] = d.remove(now, at, item)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, item := range v {
			kept[i] = d.remove(now, path+"[]", item)
		}
		return kept
	}
	return value
}

// record compares the sent status with the stored one, and returns dropped fields that weren't known before.
func (d *droppedFields) record(now time.Time, sent, stored map[string]any) (missing []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, path := range dropped("", sent, stored) {
		if d.fields == nil {
			d.fields = map[string]time.Time{}
		}
		if _, known := d.fields[path]; !known {
			missing = append(missing, path)
		}
		d.fields[path] = now.Add(sentAgain)
	}
	slices.Sort(missing)
	return missing
}

// dropped returns the paths of fields that are in sent but not in stored. Lists of different lengths aren't compared:
// somebody else changed them.
func dropped(path string, sent, stored any) (paths []string) {
	switch s := sent.(type) {
	case map[string]any:
		have, ok := stored.(map[string]any)
		if !ok {
			return nil
		}
		for field, value := range s {
			at := path + "." + field
			if there, found := have[field]; found {
				paths = append(paths, dropped(at, value, there)...)
			} else if value != nil {
				paths = append(paths, at)
			}
		}
	case []any:
		have, ok := stored.([]any)
		if !ok || len(have) != len(s) {
			return nil
		}
		for i, value := range s {
			paths = append(paths, dropped(path+"[]", value, have[i])...)
		}
	}
	return paths
}
