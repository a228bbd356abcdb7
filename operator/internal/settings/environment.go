package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// variable returns the spelling of a name in the environment.
func variable(name string) string {
	return strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}

// ofService matches the variables that Kubernetes sets in each Pod for each Service of the namespace.
var ofService = regexp.MustCompile(`^(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// readEnvironment sets the keys that no flag sets. It ignores empty variables.
func (s *Settings) readEnvironment(environ []string) {
	keys := map[string]string{}
	s.flags.VisitAll(func(f *pflag.Flag) { keys[variable(f.Name)] = f.Name })
	for _, line := range sorted(environ) {
		name, text, _ := strings.Cut(line, "=")
		short, ours := strings.CutPrefix(name, s.prefix)
		if text = strings.TrimSpace(text); text == "" || !ours {
			continue
		}
		key, known := keys[short]
		switch {
		case ofService.MatchString(short) && strings.Contains(text, "://"):
		case known && s.origins[key].Source < Environment:
			s.setVariable(key, name, text)
		case !known && !ofService.MatchString(short):
			s.warnings = append(s.warnings, fmt.Sprintf("%s: there is no such setting%s", name, Suggestion(short, slices.Collect(maps.Keys(keys)), s.prefix)))
		}
	}
}

// setVariable sets a key to the text of a variable. A list is written with commas, or as JSON.
func (s *Settings) setVariable(key, name, text string) {
	from := Origin{Environment, name, 0}
	var items []string
	if _, isList := inner(s.flags.Lookup(key)).(pflag.SliceValue); isList && strings.HasPrefix(text, "[") {
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			s.refuse(key, from, text, "it isn't a JSON list of strings")
			return
		}
		s.setList(key, from, items)
		return
	}
	s.set(key, from, text)
}

// sorted sorts the environment, so that the order of warnings and problems doesn't change.
func sorted(environ []string) []string { return slices.Sorted(slices.Values(environ)) }
