package bundles

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func TestRepairs(t *testing.T) {
	t.Parallel()
	event := func(kind watch.EventType, name, uid, message string) watch.Event {
		return watch.Event{Type: kind, Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)}, Data: map[string]string{"message": message}}}
	}
	edited, deleted := Name(0)+"-message", Name(1)+"-size"
	drift, repair := event(watch.Modified, edited, "e", "drifted"), event(watch.Modified, edited, "e", Message(0, 2))
	gone, anew := event(watch.Deleted, deleted, "d", ""), event(watch.Added, deleted, "f", "")
	for reason, row := range map[string]struct {
		events []watch.Event
		wrong  string
	}{
		"both":                                 {[]watch.Event{drift, gone, anew, repair}, ""},
		"in another order":                     {[]watch.Event{gone, drift, repair, anew}, ""},
		"others don't count":                   {[]watch.Event{event(watch.Added, "other", "x", ""), drift, gone, anew, repair}, ""},
		"not the state before the drift":       {[]watch.Event{repair, drift, gone, anew}, "ended with 1 that"},
		"nor another message":                  {[]watch.Event{drift, event(watch.Modified, edited, "e", Message(0, 1)), gone, anew}, "ended with 1 that"},
		"nor the object that was there before": {[]watch.Event{drift, repair, event(watch.Modified, deleted, "d", "")}, "ended with 1 that"},
		"nothing":                              {nil, "ended with 2 that"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			stream := watch.NewFakeWithChanSize(10, false)
			for _, event := range row.events {
				stream.Action(event.Type, event.Object)
			}
			stream.Stop()
			err := repairs(stream, 1, 2, map[string]types.UID{deleted: "d", edited: "e"})
			if row.wrong == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, row.wrong)
			}
		})
	}
}
