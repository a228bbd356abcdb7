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

// exchanged finds a value made by chance that has another value at rest than at the rest before it, as after an object
// was deleted and created anew. Nobody else has touched the object, and without the disturbance the value stays.
func (l *lesson) exchanged(tr *trace) *finding {
	for n := 1; n < len(tr.chapters) && len(l.volatile) > 0; n++ {
		for _, d := range compare(tr.chapters[n-1].end, tr.chapters[n].end) {
			stays := l.volatile[d.key()] && d.Before != nil && d.After != nil && !strings.HasPrefix(d.Path, ".status")
			if stays && !tr.chapters[n-1].passed && !tr.chapters[n].passed && !tr.touched(d.object) && !l.exchanges(n, d) {
				return found(tr, n, "a generated value changes", d.object+" "+d.Path)
			}
		}
	}
	return nil
}

// exchanges reports whether a field changes between the rest before a chapter and that after it, without disturbances.
func (l *lesson) exchanges(n int, d difference) bool {
	return slices.ContainsFunc(compare(l.chapters[n-1].end, l.chapters[n].end), func(other difference) bool {
		return other.object == d.object && (other.Path == d.Path || other.Path == "")
	})
}

// touched reports whether somebody else changes or deletes an object, or a late write may.
func (tr *trace) touched(object string) bool {
	return slices.ContainsFunc(tr.disturbances, func(a armed) bool {
		return a.act == depose || a.object == object && columnOf(a.act) == byOthers
	})
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
