package licence

// House are the licences that the repository allows. The value is what users of such a module have to know besides
// keeping the notice, empty for nothing.
var House = map[string]string{
	"Apache-2.0":   "",
	"MIT":          "",
	"BSD-2-Clause": "",
	"BSD-3-Clause": "",
	"ISC":          "",
	"MPL-2.0":      "who changes its files and passes the program on has to publish the changed files",
}
