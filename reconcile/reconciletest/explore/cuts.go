package explore

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// cutList are the cuts by which a life was made smaller, in their order: paths of fields, such as spec.size, items of
// lists, such as spec.doors[1], and chapters, such as "chapter 3". Chapters have the numbers of the whole life.
type cutList []string

// chapterWord is a cut of a chapter.
const chapterWord = "chapter "

// apply returns the smaller life. It returns an error if the life has nothing of that name.
func (w cutList) apply(l life) (life, error) {
	resource := l.resource.DeepCopy()
	var chapters []int
	for _, word := range w {
		if text, is := strings.CutPrefix(word, chapterWord); is {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > len(l.chapters) || slices.Contains(chapters, n) {
				return l, fmt.Errorf("without %q: %s has no such chapter", word, l)
			}
			chapters = append(chapters, n)
			continue
		}
		if !removeAt(resource.Object, strings.Split(word, ".")) {
			return l, fmt.Errorf("without %q: %s has no such field", word, l)
		}
	}
	smaller := l.again(resource)
	slices.Sort(chapters)
	for _, n := range slices.Backward(chapters) {
		smaller = smaller.drop(n - 1)
	}
	if len(w) > 0 {
		smaller.name += between + w.String()
	}
	return smaller, nil
}

// drop returns a life without a chapter, counted from 0. Pairs with that chapter aren't compared.
func (l life) drop(n int) life {
	l.chapters = slices.Delete(slices.Clone(l.chapters), n, n+1)
	l.equal, l.own = withoutChapter(l.equal, n), withoutChapter(l.own, n)
	return l
}

// step is one step of a path: a field, or an item of the list in a field.
var step = regexp.MustCompile(`^([A-Za-z0-9_-]+)(?:\[(\d+)\])?$`)

// removeAt removes a field or an item of a list, and reports whether it was there.
func removeAt(content map[string]any, path []string) bool {
	parts := step.FindStringSubmatch(path[0])
	if parts == nil {
		return false
	}
	name, index := parts[1], parts[2]
	value, exists := content[name]
	if !exists {
		return false
	}
	if index == "" {
		if len(path) == 1 {
			delete(content, name)
			return true
		}
		fields, is := value.(map[string]any)
		return is && removeAt(fields, path[1:])
	}
	list, _ := value.([]any)
	at, err := strconv.Atoi(index)
	if err != nil || at >= len(list) {
		return false
	}
	if len(path) == 1 {
		content[name] = slices.Delete(slices.Clone(list), at, at+1)
		return true
	}
	fields, is := list[at].(map[string]any)
	return is && removeAt(fields, path[1:])
}

// cuts returns what can be left out of a resource at a path: first fields as a whole, then what is in them. Items of
// lists come from the last one on, so that the numbers of those before it stay.
func cuts(content map[string]any, path string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if !step.MatchString(name) {
			continue
		}
		at := path + "." + name
		all = append(all, at)
		switch value := content[name].(type) {
		case map[string]any:
			all = append(all, cuts(value, at)...)
		case []any:
			for i, item := range slices.Backward(value) {
				all = append(all, fmt.Sprintf("%s[%d]", at, i))
				if fields, is := item.(map[string]any); is {
					all = append(all, cuts(fields, fmt.Sprintf("%s[%d]", at, i))...)
				}
			}
		}
	}
	return all
}

// cutsOf returns what can be left out of a resource.
func cutsOf(resource *unstructured.Unstructured) (all []string) {
	for _, field := range []string{"labels", "annotations"} {
		if _, exists, _ := unstructured.NestedMap(resource.Object, "metadata", field); exists {
			all = append(all, "metadata."+field)
		}
	}
	spec, _, _ := unstructured.NestedMap(resource.Object, "spec")
	return append(all, cuts(spec, "spec")...)
}
