package pause

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, value   string
		paused, invalid bool
		left            time.Duration
	}{
		{reason: "no annotation, or an empty one"},
		{reason: "until it is changed", value: "true", paused: true},
		{reason: "as Python writes it", value: "True", paused: true},
		{reason: "said in so many words", value: "False"},
		{reason: "until a time", value: "2030-01-02T03:05:05Z", paused: true, left: time.Minute},
		{reason: "a time that is over", value: "2030-01-02T03:04:05Z", left: time.Millisecond},
		{reason: "the clock may be set until then", value: "2031-01-02T03:04:05Z", paused: true, left: Longest},
		{reason: "longer than a Duration", value: "9999-12-31T23:59:59Z", paused: true, left: Longest},
		{reason: "a day is no time", value: "2030-01-03", invalid: true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			resource := &metav1.ObjectMeta{Annotations: map[string]string{"shop.example/pause-execution": row.value}}
			p := Of(resource, "shop.example", now)
			assert.Equal(t, row.paused, p.Paused)
			assert.Equal(t, row.invalid, p.Invalid)
			assert.Equal(t, row.value, p.Value)
			assert.Equal(t, row.left, p.Left(now))
			assert.False(t, Of(resource, "", now).Paused, "another domain's")
		})
	}
}

func TestTheOtherDomain(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "operkit.dev/pause-execution", Annotation(""))
	assert.Equal(t, "shop.example/pause-execution", Annotation("shop.example"))
}
