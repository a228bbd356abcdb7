package pause

import (
	"cmp"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Longest is the time after which a paused resource is checked again at the latest. Timers don't notice when the clock
// is set, so a pause may end late by up to this time.
const Longest = 10 * time.Minute

// Annotation returns the key of the annotation that pauses. An empty domain is deploy.Domain.
func Annotation(domain string) string { return cmp.Or(domain, deploy.Domain) + "/pause-execution" }

// Pause is the pause that the annotation of a resource asks for. The zero value doesn't pause.
type Pause struct {
	// Annotation is the key of the annotation, and Value its value, empty if the resource has none.
	Annotation, Value string
	// Paused: the resource is paused until the time in Until or, if Until is zero, until the annotation is changed.
	Paused bool
	Until  time.Time
	// Invalid: the value is neither true nor false nor a time. It doesn't pause.
	Invalid bool
}

// Of reads the annotation of a resource: "true" pauses, in capital letters too, and so does a time after now (RFC
// 3339). "false", a past time and the empty value are valid and don't pause.
func Of(resource metav1.Object, domain string, now time.Time) Pause {
	p := Pause{Annotation: Annotation(domain)}
	p.Value = resource.GetAnnotations()[p.Annotation]
	switch {
	case WithoutEnd(p.Value):
		p.Paused = true
	case p.Value != "" && !strings.EqualFold(p.Value, "false"):
		until, err := time.Parse(time.RFC3339, p.Value)
		p.Invalid = err != nil
		p.Until, p.Paused = until, err == nil && until.After(now)
	}
	return p
}

// WithoutEnd reports whether a value of the annotation pauses until it is changed.
func WithoutEnd(value string) bool { return strings.EqualFold(value, "true") }

// Left returns the time after which the resource is checked again, at most Longest. Zero means that it is checked only
// when it changes.
func (p Pause) Left(now time.Time) time.Duration {
	if p.Until.IsZero() {
		return 0
	}
	// At least a millisecond: if the pause ends right now, zero would mean that the resource is never checked again.
	return max(min(p.Until.Sub(now), Longest), time.Millisecond)
}
