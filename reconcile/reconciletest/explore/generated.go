package explore

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// regenerated finds a value that was made by chance, was stored, and was replaced by another one, though it isn't
// without the disturbance. Without one only Secrets count.
func (l *lesson) regenerated(tr *trace) *finding {
	for n, now := range tr.chapters {
		for _, call := range now.judged {
			for _, change := range call.Changes {
				d := difference{refName(call.Ref), change}
				replaced := l.volatile[d.key()] && change.Before != nil && change.After != nil && call.Err == nil
				if replaced && !strings.HasPrefix(d.Path, ".status") && l.mustStay(tr, n, call, d) {
					return found(tr, n, "a generated value changes", d.object+" "+d.Path)
				}
			}
		}
	}
	return nil
}

// mustStay reports whether a generated value that is replaced in the nth chapter of an execution should stay.
func (l *lesson) mustStay(tr *trace, n int, call reconciletest.Call, d difference) bool {
	if tr == l.trace {
		return call.Ref.Kind.Kind == "Secret" && !l.follows(n, call, d)
	}
	return !l.replaces(n, d) && !(tr.chapters[n].passed && l.replaces(n+1, d))
}

// follows reports whether a new value of a Secret has another generated value in it that stays, as a connection string
// has a password: then it was made again because of something else in it.
func (l *lesson) follows(n int, call reconciletest.Call, d difference) bool {
	data, _, _ := unstructured.NestedMap(l.chapters[n].end[d.object], "data")
	text := decoded(d.After)
	for key, value := range data {
		path := ".data." + key
		stays := !slices.ContainsFunc(call.Changes, func(change deploy.Change) bool { return change.Path == path })
		if part := decoded(value); stays && l.volatile[d.object+" "+path] && part != "" && strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// decoded returns what a value in base64 means, empty if it isn't one.
func decoded(value any) string {
	text, _ := value.(string)
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return string(content)
}

// replaces reports whether a field is changed in a chapter without disturbances.
func (l *lesson) replaces(n int, d difference) bool {
	if n >= len(l.chapters) {
		return false
	}
	return slices.ContainsFunc(l.chapters[n].calls, func(call reconciletest.Call) bool {
		return refName(call.Ref) == d.object && slices.ContainsFunc(call.Changes, func(change deploy.Change) bool { return change.Path == d.Path })
	})
}
