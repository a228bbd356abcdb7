package traps

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/operkit/operkit/tools/bench/internal/plane"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conflictingBundle is the Bundle that is edited just before the operator's writes.
const conflictingBundle = "conflicting"

// conflicting: somebody edits the Bundle and a child between what the operator reads and what it writes, three times.
func conflicting(ctx context.Context, s *scene) (answer, error) {
	if err := s.create(ctx); err != nil {
		return answer{}, err
	}
	before, err := os.ReadFile(s.log)
	if err != nil {
		return answer{}, err
	}
	const times = 3
	for range times {
		s.race.begin()
		if err := s.reconcile(ctx, 1); err != nil {
			return answer{}, err
		}
	}
	raced, refused, err := s.race.end()
	if err == nil && raced != 2*times {
		err = fmt.Errorf("somebody was quicker than %d writes, not %d", raced, 2*times)
	}
	if err != nil {
		return answer{}, err
	}
	after, err := os.ReadFile(s.log)
	if err != nil {
		return answer{}, err
	}
	loud := loudLines(string(after[len(before):]), s.bundle)
	events, err := s.children.CoreV1().Events(plane.Namespace).
		List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Bundle,involvedObject.name=" + s.bundle})
	if err != nil {
		return answer{}, err
	}
	seen := fmt.Sprintf("somebody was quicker than %d writes, of which %d were refused by 409; it is Ready; "+
		"lines of its log that tell an error or hold a stack: %d; Events of the Bundle: %d",
		raced, refused, len(loud), len(events.Items))
	if len(loud) > 0 {
		seen += fmt.Sprintf("; the first line begins with `%.90s`", loud[0])
	}
	return answer{len(loud) == 0 && len(events.Items) == 0, seen}, nil
}

var (
	// failing matches an error line of slog, zap or klog.
	failing = regexp.MustCompile(`level=ERROR|"level":"(error|dpanic|panic|fatal)"|^[EF]\d{4} `)
	// stack matches a line that contains a stack trace or begins one.
	stack = regexp.MustCompile(`"stacktrace":|stacktrace=|^goroutine \d+ |^panic: `)
	// nameless matches a line that doesn't name an object.
	nameless = regexp.MustCompile(`^goroutine \d+ |^panic: `)
)

// loudLines returns the lines of a log with an error or a stack trace that are, or may be, about an object.
func loudLines(log, name string) (loud []string) {
	for line := range strings.Lines(log) {
		if (failing.MatchString(line) || stack.MatchString(line)) && (strings.Contains(line, name) || nameless.MatchString(line)) {
			loud = append(loud, strings.TrimSpace(line))
		}
	}
	return loud
}
