package name

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/module"
	"sigs.k8s.io/yaml"
)

const (
	// longestLabel and longestSubdomain are the limits of Kubernetes.
	longestLabel, longestSubdomain = 63, 253
	// longestKind and longestComponent leave room in names of objects.
	longestKind, longestComponent = 50, 40
)

var (
	label   = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	kind    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	group   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
	version = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	// reserved are the groups of Kubernetes itself.
	reserved = regexp.MustCompile(`(^|\.)(k8s|kubernetes)\.io$`)
)

// problem is a mistake in a name.
func problem(what, given, wrong, right string) error {
	return fmt.Errorf("%s %q: %s, such as %s", what, given, wrong, right)
}

// either returns the first of the names for which right returns true.
func either(right func(string) bool, names ...string) string {
	for _, name := range names[:len(names)-1] {
		if right(name) {
			return name
		}
	}
	return names[len(names)-1]
}

// Operator checks the name of an operator: it becomes the names of a program, of objects in a cluster and of a field
// manager.
func Operator(given string) error {
	right := func(name string) bool { return isLabel(name, longestLabel) }
	if right(given) {
		return nil
	}
	return problem("name", given, fmt.Sprintf("use up to %d lower-case letters, digits and dashes, a letter first, and no YAML keyword", longestLabel),
		either(right, dashed(given), "guestbook-operator"))
}

// Component checks the name of a component: it becomes a part of names of objects, and the names of files and of a Go
// type.
func Component(given string) error {
	right := func(name string) bool { return isLabel(name, longestComponent) && name != "controller" }
	switch {
	case right(given):
		return nil
	case given == "controller":
		return problem("component", given, "controller.go is the file of the controller: use another name", "control")
	}
	return problem("component", given, fmt.Sprintf("use up to %d lower-case letters, digits and dashes, a letter first, and no YAML keyword", longestComponent),
		either(right, dashed(given), "cache"))
}

// Kind checks the name of a kind.
func Kind(given string) error {
	right := func(name string) bool {
		return kind.MatchString(name) && isLabel(Singular(name), longestKind) && isLabel(Plural(name), longestLabel)
	}
	if right(given) {
		return nil
	}
	return problem("kind", given, fmt.Sprintf("use a word in the singular of up to %d letters and digits, a capital first, and no YAML keyword", longestKind),
		either(right, camel(given), "Guestbook"))
}

// Group checks the group of a kind.
func Group(given string) error {
	right := func(name string) bool {
		return group.MatchString(name) && len(name) <= longestSubdomain-longestLabel-1 && !reserved.MatchString(name) && !isWord(name)
	}
	switch {
	case right(given):
		return nil
	case reserved.MatchString(given):
		return problem("group", given, "groups below k8s.io and kubernetes.io belong to Kubernetes: use your own domain", "apps.example.com")
	}
	lower := strings.ToLower(given)
	return problem("group", given, "use a domain in lower case, with at least one dot",
		either(right, lower, dashed(given)+".example.com", "apps.example.com"))
}

// Version checks the version of a kind.
func Version(given string) error {
	if version.MatchString(given) {
		return nil
	}
	lower := strings.ToLower(given)
	major, _, _ := strings.Cut(lower, ".")
	return problem("version", given, "write it as Kubernetes does: v1, v1beta2, v2alpha1",
		either(version.MatchString, lower, "v"+lower, major, "v"+major, "v1"))
}

// NewestVersion returns the version that Kubernetes prefers: stable versions before betas and alphas, and of these the
// highest number. It returns "" if there are no versions.
func NewestVersion(versions ...string) string {
	newest := ""
	for _, one := range versions {
		if newest == "" || slices.Compare(rank(one), rank(newest)) > 0 {
			newest = one
		}
	}
	return newest
}

// NextVersion returns a version that may follow another one.
func NextVersion(version string) string {
	parts := versionParts.FindStringSubmatch(version)
	if parts == nil {
		return "v2"
	}
	if parts[2] != "" {
		return "v" + parts[1]
	}
	major, _ := strconv.Atoi(parts[1]) // a number that is too large is no version that anybody has
	return "v" + strconv.Itoa(major+1)
}

var versionParts = regexp.MustCompile(`^v([0-9]+)(?:(alpha|beta)([0-9]+))?$`)

// rank returns numbers by which versions are compared.
func rank(version string) []int {
	parts := versionParts.FindStringSubmatch(version)
	if parts == nil {
		return nil
	}
	major, _ := strconv.Atoi(parts[1]) // a number that is too large counts as the largest
	minor, _ := strconv.Atoi(parts[3])
	return []int{slices.Index([]string{"alpha", "beta", ""}, parts[2]), major, minor}
}

// Module checks the path of a Go module.
func Module(given string) error {
	err := module.CheckImportPath(given)
	if err == nil {
		return nil
	}
	return problem("module", given, fmt.Sprintf("Go doesn't accept this path (%s)", strings.TrimPrefix(err.Error(), fmt.Sprintf("malformed import path %q: ", given))),
		"github.com/you/guestbook-operator")
}

func isLabel(name string, longest int) bool {
	return label.MatchString(name) && len(name) <= longest && !isWord(name)
}

// isWord reports whether YAML reads a name as something else than text, such as "on" and "null".
func isWord(name string) bool {
	var value any
	err := yaml.Unmarshal([]byte(name), &value)
	_, text := value.(string)
	return err != nil || !text
}

// words splits a name into words: at characters other than letters and digits, and before capitals.
func words(name string) (found []string) {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !isAlphanumeric(r) }) {
		start := 0
		for i := 1; i < len(part); i++ {
			if isCapital(part[i]) && !isCapital(part[i-1]) {
				found, start = append(found, part[start:i]), i
			}
		}
		found = append(found, part[start:])
	}
	return found
}

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }

// dashed writes a name in lower case, with dashes between its words.
func dashed(name string) string { return strings.ToLower(strings.Join(words(name), "-")) }

// camel writes a name with a capital at the beginning of each word.
func camel(name string) string {
	var out strings.Builder
	for _, word := range words(name) {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}
