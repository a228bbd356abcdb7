package jobs

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// latest returns the Pod that was created last, nil if there is none.
func latest(pods []*unstructured.Unstructured) *unstructured.Unstructured {
	if len(pods) == 0 {
		return nil
	}
	return slices.MaxFunc(pods, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), strings.Compare(a.GetName(), b.GetName()))
	})
}

// latestFailed returns the failed Pod that ended last, nil if there is none.
func latestFailed(pods []*unstructured.Unstructured) *unstructured.Unstructured {
	var failed []*unstructured.Unstructured
	for _, pod := range pods {
		if phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase"); phase == "Failed" {
			failed = append(failed, pod)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	end := func(pod *unstructured.Unstructured) (last string) {
		for _, container := range containersOf(pod) {
			last = max(last, container.end)
		}
		// A Pod that was evicted may have no containers.
		return cmp.Or(last, pod.GetCreationTimestamp().UTC().Format(time.RFC3339))
	}
	slices.SortStableFunc(failed, func(a, b *unstructured.Unstructured) int { return strings.Compare(end(a), end(b)) })
	last := end(failed[len(failed)-1])
	return latest(slices.DeleteFunc(failed, func(pod *unstructured.Unstructured) bool { return end(pod) != last }))
}

// container is the status of a container that has ended with an error.
type container struct {
	status map[string]any
	// end is the time of its end, in RFC 3339 and UTC, so that texts compare like times.
	end string
}

// containersOf returns the containers of a Pod that have ended with an error, in their order.
func containersOf(pod *unstructured.Unstructured) (found []container) {
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		statuses, _, _ := unstructured.NestedFieldNoCopy(pod.Object, "status", list)
		elements, _ := statuses.([]any)
		for _, element := range elements {
			status, _ := element.(map[string]any)
			terminated, _, _ := unstructured.NestedFieldNoCopy(status, "state", "terminated")
			ended, _ := terminated.(map[string]any)
			if code, _ := ended["exitCode"].(int64); code != 0 {
				end, _ := ended["finishedAt"].(string)
				found = append(found, container{status, end})
			}
		}
	}
	return found
}

// describe returns what a Pod reports that doesn't run, empty for one that runs, starts or has succeeded. hide leaves
// out what containers wrote.
func describe(pod *unstructured.Unstructured, hide bool) string {
	if pod == nil {
		return ""
	}
	pod = pod.DeepCopy()
	// The first container to fail is the cause; sidecars are ended after it.
	failed := containersOf(pod)
	if len(failed) > 1 {
		first := slices.MinFunc(failed, func(a, b container) int { return strings.Compare(a.end, b.end) })
		for _, other := range failed {
			if other.end != first.end {
				delete(other.status, "state")
			}
		}
	}
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		statuses, _, _ := unstructured.NestedFieldNoCopy(pod.Object, "status", list)
		elements, _ := statuses.([]any)
		for _, element := range elements {
			status, _ := element.(map[string]any)
			tidy(status, hide, "state")
			tidy(status, hide, "lastState")
		}
	}
	result := readiness.Of(pod)
	if !worthwhile(result) {
		return ""
	}
	return "Pod " + pod.GetName() + ": " + result.Message
}

// worthwhile reports whether a result is about a Pod that has failed, a container that can't run, or the scheduler.
func worthwhile(result readiness.Result) bool {
	return result.State == readiness.Failed || result.State == readiness.InProgress && slices.ContainsFunc(result.Fields, func(field string) bool {
		return strings.HasSuffix(field, "ontainerStatuses") || strings.Contains(field, "PodScheduled")
	})
}

// tidy shortens what a container wrote, or removes it.
func tidy(status map[string]any, hide bool, state string) {
	found, _, _ := unstructured.NestedFieldNoCopy(status, state, "terminated")
	terminated, _ := found.(map[string]any)
	text, _ := terminated["message"].(string)
	switch {
	case text == "":
	case hide:
		delete(terminated, "message")
	default:
		terminated["message"] = tail(text)
	}
}

// longestOutput limits what a message has of the output of a container, in bytes.
const longestOutput = 600

// tail returns the last lines of a text, in one line and without control characters.
func tail(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.Map(func(c rune) rune {
			if unicode.IsControl(c) {
				return ' '
			}
			return c
		}, line)
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	const more = "..."
	joined := strings.Join(lines, " | ")
	if len(joined) <= longestOutput {
		return joined
	}
	start := len(joined) - longestOutput + len(more)
	for !utf8.RuneStart(joined[start]) {
		start++
	}
	return more + joined[start:]
}
