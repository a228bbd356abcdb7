package lifecycle

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
)

// shortenedMark ends the messages of the conditions Ready and Updating in a status that is shortened.
const shortenedMark = " (shortened: the whole status is too large for the cluster to store)"

// shortening is one step by which a status that is too large is made smaller.
type shortening struct {
	// message is the length in bytes to which messages of rolloutConditions are cut, without shortenedMark. names: the
	// names of components are still listed.
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

// Fitting calls write with the steps of shortenings, until the status isn't too large.
func Fitting(log *slog.Logger, write func(step int) (deploy.Result, error)) (deploy.Result, error) {
	for step := 0; ; step++ {
		result, err := write(step)
		if !tooLarge(err) || step == len(shortenings) {
			return result, err
		}
		log.Warn("the status is too large for the cluster to store: it is shortened", "step", step+1, "error", err)
	}
}

// Shortened returns the status to write: next, shortened by the given step; step 0 is the first try. If the present
// status equals next after some step, step 0 returns present, so that the whole status, which the cluster refuses,
// isn't sent in each reconcile. Neither next nor present is changed.
func Shortened(next, present map[string]any, step int) map[string]any {
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
		message = Cut(strings.TrimSuffix(message, shortenedMark), s.message)
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

// rolloutConditions are the types of the conditions about the rollout, whose messages may be shortened. Conditions that
// the user has declared, and ConditionPaused, keep their messages.
var rolloutConditions = []string{status.ConditionReady, status.ConditionUpdating, status.ConditionReconciling, status.ConditionStalled}

// withMessages returns a copy of a status in which change has replaced the messages of rolloutConditions.
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
		if message, isText := condition["message"].(string); isText && slices.Contains(rolloutConditions, kind) {
			condition = maps.Clone(condition)
			condition["message"] = change(kind, message)
			list[i] = condition
		}
	}
	out["conditions"] = list
	return out
}

// Cut returns text, shortened to limit bytes if it is longer. The result is valid UTF-8 if text is.
func Cut(text string, limit int) string {
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
