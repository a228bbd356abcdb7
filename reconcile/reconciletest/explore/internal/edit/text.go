package edit

import (
	"regexp"
	"strconv"
	"strings"
)

// stringsLike returns strings that may be valid: like the present one, if the schema doesn't say what strings mean.
func stringsLike(schema map[string]any, present string) (values []any) {
	format, _ := schema["format"].(string)
	for _, value := range formats[strings.ReplaceAll(format, "-", "")] {
		values = append(values, value)
	}
	if len(values) > 0 {
		return values
	}
	values = append(values, counted(present), present+"x")
	if pattern, is := schema["pattern"].(string); is {
		for _, value := range matching(pattern) {
			values = append(values, value)
		}
	}
	for _, length := range []int{countOf(schema["minLength"], 1), countOf(schema["maxLength"], 1)} {
		if length <= longestText {
			values = append(values, strings.Repeat("x", length), strings.Repeat("y", length))
		}
	}
	return values
}

// digits matches the last number of a string.
var digits = regexp.MustCompile(`(\d{1,9})(\D*)$`)

// counted returns a string with its last number increased: of "1Gi" it is "2Gi". Without a number it appends a letter.
func counted(text string) string {
	at := digits.FindStringSubmatchIndex(text)
	if at == nil {
		return text + "x"
	}
	number, err := strconv.Atoi(text[at[2]:at[3]])
	if err != nil {
		return text + "x"
	}
	return text[:at[2]] + strconv.Itoa(number+1) + text[at[3]:]
}

// longestText is how many characters a generated string has at most.
const longestText = 253
