package licence

// House are the licences that the repository allows. The value is a note for users of such a module; it is empty if
// they only have to keep the notice.
var House = map[string]string{
	"Apache-2.0":   "",
	"MIT":          "",
	"BSD-2-Clause": "",
	"BSD-3-Clause": "",
	"ISC":          "",
	"MPL-2.0":      "who changes its files and passes the program on has to publish the changed files",
}
