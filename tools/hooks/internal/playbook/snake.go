package playbook

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// acronyms are words that stay whole, also in their plural: egressIPs is egress_ips.
var acronyms = []string{"HTTP", "URL", "IP"}

// numbers finds letters that follow numbers, such as in a1b2, which is a_1_b2.
var numbers = regexp.MustCompile(`([a-zA-Z])([0-9]+)([a-zA-Z][0-9]+)`)

// snakeCase returns a name in snake_case. The name of a variable that begins with a capital letter begins with an
// underscore then, unless it begins with an acronym.
func snakeCase(name string) string {
	name = strings.Trim(numbers.ReplaceAllString(name, "$1 $2 $3"), " ")
	if name == "" {
		return ""
	}
	isCapital := isUpper(name[0])
	for _, word := range acronyms {
		name = isolate(name, word)
	}
	words := splitWords(name)
	snake := strings.ToLower(strings.Join(words, "_"))
	if isCapital && !slices.Contains(acronyms, strings.ToUpper(words[0])) {
		return "_" + snake
	}
	return snake
}

// isolate puts underscores around the first acronym in a name, unless the name begins with it and goes on.
func isolate(name, word string) string {
	before, after, found := strings.Cut(name, word)
	switch {
	case !found:
		return name
	case after == "":
		return before + "_" + word
	case after == "s":
		return before + "_" + word + "S"
	}
	if rest, isPlural := strings.CutPrefix(after, "s"); isPlural {
		word, after = word+"S", rest
	}
	if before != "" {
		word = "_" + word
	}
	return before + word + "_" + after
}

// splitWords splits a name at spaces, hyphens and underscores, and where the case changes: before a capital letter that
// a small one follows, and after a small letter that a capital one follows. A first letter alone is no word.
func splitWords(name string) (words []string) {
	word := ""
	next := func(with string) {
		words = append(words, word)
		word = with
	}
	for i, letter := range name {
		var upper, lower bool // letter and the following one differ in their case
		if letter < 0x80 && i+1 < len(name) {
			upper = isUpper(name[i]) && isLower(name[i+1])
			lower = isLower(name[i]) && isUpper(name[i+1])
		}
		switch {
		case word != "" && upper:
			next(string(letter))
		case word != "" && lower:
			word += string(letter)
			next("")
		case strings.ContainsRune(" _-", letter):
			next("")
		default:
			word += string(letter)
		}
	}
	return append(words, word)
}

func isUpper(letter byte) bool { return letter >= 'A' && letter <= 'Z' }
func isLower(letter byte) bool { return letter >= 'a' && letter <= 'z' }

// snakeCaseKeys returns a value in which the names of all fields are in snake_case.
func snakeCaseKeys(value any) any {
	switch value := value.(type) {
	case map[string]any:
		snake := make(map[string]any, len(value))
		for _, name := range slices.Sorted(maps.Keys(value)) {
			to := snakeCase(name)
			if _, isTaken := snake[to]; !isTaken || to == name {
				snake[to] = snakeCaseKeys(value[name])
			}
		}
		return snake
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = snakeCaseKeys(item)
		}
		return list
	default:
		return value
	}
}
