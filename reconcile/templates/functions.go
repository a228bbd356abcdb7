package templates

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	apijson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// kept are the functions of sprig whose results depend only on their arguments, except for those that ownFunctions
// replaces.
var kept = strings.Fields(`
	abbrev abbrevboth add add1 add1f addf adler32sum all any append atoi b32dec b32enc b64dec b64enc base biggest camelcase
	cat ceil chunk clean coalesce compact concat contains deepCopy deepEqual default dict dig dir div divf duration empty
	ext first float64 floor get has hasKey hasPrefix hasSuffix initial initials int int64 isAbs join kebabcase kindIs kindOf
	last list lower max maxf min minf mod mul mulf mustAppend mustChunk mustCompact mustDeepCopy
	mustFirst mustHas mustInitial mustLast mustPrepend mustPush mustRegexFind
	mustRegexFindAll mustRegexMatch mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexSplit mustRest mustReverse
	mustSlice mustToJson mustToPrettyJson mustToRawJson mustUniq mustWithout nospace omit pick pluck plural prepend push
	quote regexFind regexFindAll regexMatch regexQuoteMeta regexReplaceAll regexReplaceAllLiteral regexSplit replace rest
	reverse round semver semverCompare sha1sum sha256sum sha512sum slice snakecase sortAlpha split splitList splitn
	squote sub subf substr swapcase ternary title toDecimal toJson toPrettyJson toRawJson toString toStrings trim trimAll
	trimPrefix trimSuffix trimall trunc tuple typeIs typeIsLike typeOf uniq unset untitle upper urlJoin urlParse without
	wrap wrapWith`)

// builtin are the functions of package template. Authors can replace neither these nor any other existing function.
var builtin = strings.Fields(`and call html index js len not or print printf println urlquery eq ge gt le lt ne`)

// sprigFunctions is the table of sprig's functions, which is made only once.
var sprigFunctions = sprig.TxtFuncMap()

// ownFunctions replace functions of sprig that hide errors, lose the types of numbers, or have no fixed order or no
// limit. They also include the functions that Helm adds.
var ownFunctions = template.FuncMap{
	"toYaml":       toYAML,
	"fromYaml":     fromYAML,
	"fromJson":     fromJSON,
	"mustFromJson": fromJSON,
	"required":     required,
	"fail":         func(message string) (string, error) { return "", &ruleError{text: message, resource: true} },
	"set":          setKey,
	"keys":         keys,
	"values":       values,
	"repeat":       repeat,
	"indent":       indent,
	"nindent": func(spaces int, text string) (string, error) {
		text, err := indent(spaces, text)
		return "\n" + text, err
	},
	"until":     func(count int) ([]int, error) { return untilStep(0, count, cmp.Compare(count, 0)) },
	"untilStep": untilStep,
	"seq":       seq,

	"merge": merging("mustMerge"), "mustMerge": merging("mustMerge"),
	"mergeOverwrite": merging("mustMergeOverwrite"), "mustMergeOverwrite": merging("mustMergeOverwrite"),
}

// bound are the names of the functions that depend on what is being rendered.
var bound = []string{"include", "scopedName", "file"}

func isTaken(name string) bool {
	return ownFunctions[name] != nil || slices.Contains(kept, name) || slices.Contains(builtin, name) || slices.Contains(bound, name)
}

// functions returns all functions of a template; the functions in bound use r.
func (t *Templates) functions(r *runner) template.FuncMap {
	all := make(template.FuncMap, len(kept)+len(ownFunctions)+len(bound)+len(t.options.funcs))
	for _, name := range kept {
		all[name] = sprigFunctions[name]
	}
	maps.Copy(all, ownFunctions)
	maps.Copy(all, r.bound())
	maps.Copy(all, t.options.funcs)
	return all
}

// bound returns the functions that use r.
func (r *runner) bound() template.FuncMap {
	return template.FuncMap{
		"include":    r.include,
		"scopedName": func(name string) string { return r.scopedName(name) },
		"file": func(name string) (string, error) {
			content, ok := r.set.data[path.Join(r.folder, name)]
			if !ok {
				return "", rulef("there is no such file", "file %q: folder %s has no such file, or it is a template", name, r.folder)
			}
			return content, nil
		},
	}
}

func toYAML(value any) (string, error) {
	text, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(text), "\n"), err
}

func fromYAML(text string) (any, error) {
	document, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, err
	}
	return fromJSON(string(document))
}

// fromJSON decodes JSON; integers stay integers.
func fromJSON(text string) (any, error) {
	var value any
	err := apijson.Unmarshal([]byte(text), &value)
	return value, err
}

func required(message string, value any) (any, error) {
	if value == nil || value == "" {
		return nil, &ruleError{text: message, resource: true}
	}
	return value, nil
}

func repeat(count int, text string) (string, error) {
	if count < 0 || len(text) > 0 && count > largestOutput/len(text) {
		return "", rulef("a negative count or too much text", "%d times: a negative count or more than %d MiB", count, largestOutput>>20)
	}
	return strings.Repeat(text, count), nil
}

func indent(spaces int, text string) (string, error) {
	padding, err := repeat(spaces, " ")
	if err != nil || len(padding)*(1+strings.Count(text, "\n")) > largestOutput {
		return "", rulef("invalid indentation", "%d spaces: not a valid indentation", spaces)
	}
	return padding + strings.ReplaceAll(text, "\n", "\n"+padding), nil
}

const longestList = 100_000

// untilStep returns the numbers from start to stop, ascending or descending, without stop.
func untilStep(start, stop, step int) ([]int, error) {
	numbers := []int{}
	if step == 0 || (stop > start) != (step > 0) {
		return numbers, nil
	}
	if (float64(stop)-float64(start))/float64(step) > longestList {
		return nil, rulef("too many numbers", "from %d to %d by %d are more than %d numbers", start, stop, step, longestList)
	}
	for number := start; number != stop && (number < stop) == (step > 0); number += step {
		numbers = append(numbers, number)
		if (number+step > number) != (step > 0) {
			break // the next number would overflow
		}
	}
	return numbers, nil
}

// seq returns numbers separated by spaces, like the shell's seq: its arguments are last, or first and last, or first,
// step and last.
func seq(params ...int) (string, error) {
	if len(params) == 0 {
		return "", nil
	}
	start, last := 1, params[len(params)-1]
	if len(params) > 1 {
		start = params[0]
	}
	step := cmp.Or(cmp.Compare(last, start), 1)
	switch len(params) {
	case 1, 2:
	case 3:
		step = params[1]
	default:
		return "", errors.New("it takes three numbers at most")
	}
	numbers, err := untilStep(start, last+cmp.Compare(step, 0), step)
	return strings.Trim(fmt.Sprint(numbers), "[]"), err
}

// keys lists the keys of the maps, sorted for each map.
func keys(maps ...map[string]any) []string {
	var all []string
	for _, m := range maps {
		all = append(all, sortedKeys(m)...)
	}
	return all
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func values(m map[string]any) []any {
	var all []any
	for _, key := range sortedKeys(m) {
		all = append(all, m[key])
	}
	return all
}

// setKey refuses to put a map into itself: such a map could never be printed completely.
func setKey(m map[string]any, key string, value any) (map[string]any, error) {
	if reaches(value, m) {
		return nil, rulef("", "a map can't hold itself")
	}
	m[key] = value
	return m, nil
}

// reaches reports whether m is somewhere in value.
func reaches(value any, m map[string]any) bool {
	switch v := value.(type) {
	case map[string]any:
		if reflect.ValueOf(v).Pointer() == reflect.ValueOf(m).Pointer() {
			return true
		}
		for _, item := range v {
			if reaches(item, m) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return reaches(item, m) })
	}
	return false
}

// merging returns a merge function of sprig that merges copies, so that a map can't contain itself.
func merging(name string) func(map[string]any, ...map[string]any) (any, error) {
	merge, _ := sprigFunctions[name].(func(map[string]any, ...map[string]any) (any, error))
	return func(into map[string]any, sources ...map[string]any) (any, error) {
		copies := make([]map[string]any, len(sources))
		for i, source := range sources {
			copies[i], _ = copyOf(source).(map[string]any)
		}
		return merge(into, copies...)
	}
}

// copyOf returns a copy of the maps and lists of value. Other values, such as a version of semver, are shared: sprig's
// own deepCopy loses their unexported fields.
func copyOf(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = copyOf(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copyOf(item)
		}
		return out
	}
	return value
}
