package reconcile

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
const shortenedMark = " (this status is shortened: all of it is too large for the cluster to store)"

// shortening is one step by which a status that is too large is made smaller.
type shortening struct {
	// message bounds the messages of the conditions, in bytes; names says whether components are still listed.
	message int
	names   bool
}

// shortenings are tried in turn until the cluster takes the status. What the components say goes first, then their
// names. How many there are, and the kinds of their objects, without which nothing could be pruned, stay.
var shortenings = []shortening{{message: 4096, names: true}, {message: 1024}, {message: 256}}

// tooLarge reports whether a write was refused because the object is larger than what the cluster stores.
func tooLarge(err error) bool {
	var invalid *deploy.InvalidError
	return errors.As(err, &invalid) && invalid.TooLarge
}

// fitting writes a status with ever more shortenings until it isn't too large.
func fitting(log *slog.Logger, write func(step int) (deploy.Result, error)) (deploy.Result, error) {
	for step := 0; ; step++ {
		result, err := write(step)
		if !tooLarge(err) || step == len(shortenings) {
			return result, err
		}
		log.Warn("the status is too large for the cluster to store: it is shortened", "step", step+1, "error", err)
	}
}

// shortened is next after the given number of shortenings. A status that was shortened before stays as it is while
// nothing else has changed, so that it isn't refused again with each reconcile: that is present then. next and present
// aren't changed.
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

// isShortened reports whether the status says that it is shortened.
func isShortened(content map[string]any) bool {
	list, _ := content["conditions"].([]any)
	return slices.ContainsFunc(list, func(item any) bool {
		condition, _ := item.(map[string]any)
		message, _ := condition["message"].(string)
		return strings.HasSuffix(message, shortenedMark)
	})
}

// of is a copy of a status, shortened.
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

// components is a copy of the component status, shortened.
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

// list is a list of components without what is said of each, or an empty one.
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

// withMessages is a copy of a status with other messages in our own conditions.
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

// cut is text with at most limit bytes, valid UTF-8 if text is.
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
