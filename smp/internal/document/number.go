package document

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
)

// number returns the number that a valid JSON literal denotes.
func number(literal string) any {
	if !strings.ContainsAny(literal, ".eE") && literal != "-0" {
		if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
			return i
		}
		return json.Number(literal)
	}
	if f, exact := exactFloat(literal); exact {
		return f
	}
	return json.Number(literal)
}

// safeDigits is the number of decimal digits that a float64 always keeps.
const safeDigits = 15

// exactFloat returns the float64 for a valid literal. exact reports whether it is written back as the same number.
func exactFloat(literal string) (f float64, exact bool) {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return 0, false
	}
	if len(literal) <= safeDigits && !strings.ContainsAny(literal, "eE") {
		return f, true
	}
	return f, decimalOf(literal).equal(decimalOf(string(appendFloat(nil, f))))
}

// appendFloat writes a finite number. A whole number that fits into an int64 is written with all its digits, any other
// number with the fewest digits that distinguish it from all other float64 values.
func appendFloat(dst []byte, f float64) []byte {
	if i, whole := wholeNumber(f); whole && (i != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, i, 10)
	}
	if size := math.Abs(f); size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'e', -1, 64)
}

// wholeNumber returns f as an int64. whole is false if an int64 can't hold it.
func wholeNumber(f float64) (i int64, whole bool) {
	if f < -1<<63 || f >= 1<<63 {
		return 0, false
	}
	i = int64(f)
	return i, float64(i) == f
}

// normal returns an int64, a float64 or a json.Number as it is. Numbers of other Go types become int64 or float64; an
// integer that an int64 can't hold becomes a json.Number. known is false for a value that isn't a number. err is set
// for an invalid number.
func normal(value any) (number any, known bool, err error) {
	switch n := value.(type) {
	case int64:
		return value, true, nil
	case float64:
		return value, true, finite(n)
	case json.Number:
		if !isNumber(string(n)) {
			return nil, true, fmt.Errorf("json.Number %q is no JSON number", string(n))
		}
		return value, true, nil
	case int, int32, int16, int8:
		return reflect.ValueOf(n).Int(), true, nil
	case uint, uint64, uint32, uint16, uint8:
		return unsigned(reflect.ValueOf(n).Uint()), true, nil
	case float32:
		return fromFloat32(n), true, finite(float64(n))
	default:
		return nil, false, nil
	}
}

func unsigned(n uint64) any {
	if n <= math.MaxInt64 {
		return int64(n)
	}
	return json.Number(strconv.FormatUint(n, 10))
}

// fromFloat32 returns the float64 that is written like f: 0.1 stays 0.1.
func fromFloat32(f float32) float64 {
	wide, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	if err != nil {
		return float64(f)
	}
	return wide
}

func finite(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%v is no JSON number", f)
	}
	return nil
}

// decimal is a number in its one normal form: digits without zeros at either end, times ten to the
// power of exponent. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exponent *big.Int
}

func (d decimal) equal(other decimal) bool {
	return d.negative == other.negative && d.digits == other.digits && d.exponent.Cmp(other.exponent) == 0
}

// decimalOf reads a valid JSON number. Exponents can be of any size.
func decimalOf(literal string) decimal {
	d := decimal{exponent: new(big.Int)}
	mantissa := literal
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa = literal[:i]
		// SetString always succeeds, because the literal is valid.
		d.exponent.SetString(strings.TrimPrefix(literal[i+1:], "+"), 10)
	}
	mantissa, d.negative = strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{exponent: new(big.Int)}
	}
	d.exponent.Add(d.exponent, big.NewInt(int64(len(digits)-len(d.digits)-len(fraction))))
	return d
}

// isNumber reports whether text is a number by the grammar of RFC 8259.
func isNumber(text string) bool {
	end, ok := scanNumber(text, 0)
	return ok && end == len(text)
}

// scanNumber returns the end of the number that starts at pos; if ok is false there is none, and end is the index of
// the wrong byte.
func scanNumber(text string, pos int) (end int, ok bool) {
	if pos < len(text) && text[pos] == '-' {
		pos++
	}
	start := pos
	if pos = skipDigits(text, pos); pos == start {
		return pos, false
	}
	if text[start] == '0' && pos > start+1 {
		return start + 1, false
	}
	if pos < len(text) && text[pos] == '.' {
		fraction := pos + 1
		if pos = skipDigits(text, fraction); pos == fraction {
			return pos, false
		}
	}
	if pos < len(text) && (text[pos] == 'e' || text[pos] == 'E') {
		pos++
		if pos < len(text) && (text[pos] == '+' || text[pos] == '-') {
			pos++
		}
		exponent := pos
		if pos = skipDigits(text, exponent); pos == exponent {
			return pos, false
		}
	}
	return pos, true
}

func skipDigits(text string, pos int) int {
	for pos < len(text) && text[pos]-'0' <= 9 {
		pos++
	}
	return pos
}
