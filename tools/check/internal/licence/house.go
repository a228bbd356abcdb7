package licence

// House are the licences that the repository allows. The value is a note for users of a module with this licence. It is
// empty if they only have to keep the licence notice.
var House = map[string]string{
	"Apache-2.0":   "",
	"MIT":          "",
	"BSD-2-Clause": "",
	"BSD-3-Clause": "",
	"ISC":          "",
	"MPL-2.0":      "if you change files of this module and distribute the program, you have to publish the changed files",
}
