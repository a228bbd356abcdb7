package main

import (
	"strings"
	"testing"
	"time"

	v1 "github.com/operkit/operkit/examples/catset/api/v1"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// requestFor is for a set with Pods, such as "0 1! 2-": 0 is ready, 1 isn't, 2 is ready and going, 3x has failed.
func requestFor(t *testing.T, replicas int, pods string) Request {
	t.Helper()
	set := &v1.CatSet{}
	set.Name, set.Spec.Replicas = "tom", replicas
	var children []*unstructured.Unstructured
	for _, number := range strings.Fields(pods) {
		pod := podOf(set, 0)
		pod.Name = "tom-" + strings.TrimRight(number, "!-x")
		ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
		switch {
		case strings.HasSuffix(number, "!"):
			ready.Status = corev1.ConditionFalse
		case strings.HasSuffix(number, "-"):
			pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
		case strings.HasSuffix(number, "x"):
			pod.Status.Phase, ready.Status = corev1.PodFailed, corev1.ConditionFalse
		}
		pod.Status.Conditions = []corev1.PodCondition{ready}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
		require.NoError(t, err)
		children = append(children, &unstructured.Unstructured{Object: content})
	}
	return Request{Parent: set, Children: desired.Collect(children...)}
}

// podsIn returns the numbers of the Pods of a Response. Those that are kept as they are have an "=".
func podsIn(response desired.Response) string {
	var numbers []string
	for _, child := range response.Children {
		switch pod := child.(type) {
		case *corev1.Pod:
			numbers = append(numbers, strings.TrimPrefix(pod.Name, "tom-"))
		case *unstructured.Unstructured:
			numbers = append(numbers, strings.TrimPrefix(pod.GetName(), "tom-")+"=")
		}
	}
	return strings.Join(numbers, " ")
}

// A pure function is tested by calling it.
func TestCatSetSync(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason   string
		replicas int
		pods     string
		want     string
		message  string
	}{
		{"the first Pod is wanted at once", 3, "", "0", "0 of 3 Pods ready, 0 updated"},
		{"the next one waits", 3, "0!", "0", "waiting for tom-0; 0 of 3 Pods ready, 1 updated"},
		{"until those before it are ready", 3, "0", "1 0", "1 of 3 Pods ready, 1 updated"},
		{"all are wanted, the last one first", 3, "0 1 2", "2 1 0", "3 of 3 Pods ready, 3 updated"},
		{"a Pod that exists is wanted in any case", 3, "0! 1! 2!", "2 1 0", ""},
		{"one that is deleted in the middle is created again", 3, "0 2", "2 1 0", ""},
		{"but not while one before it isn't ready", 3, "0! 2", "2 0", ""},
		{"a Pod that goes isn't ready", 3, "0 1-", "1 0", "waiting for tom-1; 1 of 3 Pods ready, 2 updated"},
		{"a Pod that has failed is deleted, and the others stay as they are", 3, "0 1x 2", "2= 0=", ""},
		{"none is created meanwhile", 4, "0 1x", "0=", ""},
		{"and none is deleted", 1, "0x 1 2", "2= 1=", ""},
		{"a superfluous one that has failed is deleted, too", 1, "0 1x 2", "2= 0=", ""},
		{"the last superfluous Pod goes first", 1, "0 1 2", "1= 0", ""},
		{"and the next one after it", 1, "0 1 2-", "1= 0", ""},
		{"all of them stay while a wanted one isn't ready", 1, "0! 1 2", "2= 1= 0", ""},
		{"and while a wanted one is absent", 1, "1 2", "2= 1= 0", ""},
		{"a superfluous one needn't be ready", 1, "0 1!", "0", ""},
		{"numbers are no texts", 10, "0 1 2 3 4 5 6 7 8 9 10", "9 8 7 6 5 4 3 2 1 0", ""},
		{"no Pod is wanted", 0, "0", "", "1 of 0 Pods ready, 1 updated"},
		{"nor is there any", 0, "", "", "0 of 0 Pods ready, 0 updated"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := requestFor(t, row.replicas, row.pods)
			response, err := cats{}.Sync(r)
			require.NoError(t, err)
			assert.Equal(t, row.want, podsIn(response))
			again, err := cats{}.Sync(r)
			require.NoError(t, err)
			assert.Equal(t, response, again, "it is pure")
			if row.message != "" {
				assert.Equal(t, row.message, response.Status.(v1.CatSetStatus).Conditions[0].Message)
			}
		})
	}
}

func TestCatSetFinalize(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, pods, want string
		finalized          bool
	}{
		{"the last Pod goes", "0 1! 2 10", "0= 1= 2=", false},
		{"the next one waits until it is gone", "0 1 2-", "0= 1=", false},
		{"then it goes", "0", "", false},
		{"and then the set", "", "", true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			response, err := cats{}.Finalize(requestFor(t, 3, row.pods))
			require.NoError(t, err)
			assert.Equal(t, row.want, podsIn(response))
			assert.Equal(t, row.finalized, response.Finalized)
		})
	}
}

func TestCatSetOfAStranger(t *testing.T) {
	t.Parallel()
	r := requestFor(t, 3, "0 one")
	_, err := cats{}.Sync(r)
	assert.EqualError(t, err, "Pod tom-one: its name doesn't end in a number: delete it")
	_, err = cats{}.Finalize(r)
	assert.Error(t, err)
	status := cats{}.Failed(r, err).(v1.CatSetStatus)
	assert.Equal(t, "Error", status.Conditions[0].Reason)
}
