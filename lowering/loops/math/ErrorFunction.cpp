// In f32 erf x is one odd polynomial up to where it rounds to 1; in f64 it is
// one up to 1, then 1 - e^-g(x) with a polynomial g.
#include "lowering/loops/math/Functions.h"

namespace onnxc::elementary {
namespace {

// erf(x) / x in 2 (x / limit)^2 - 1, where all terms have one sign at x = 0.
constexpr double limitF32 = 3.75; // erf rounds to 1 there, or 2 units below
constexpr double allF32[] = {
    0.37705692648887634,   -0.18802982568740845,   0.13926978409290314,
    -0.11194868385791779,  0.09072285145521164,    -0.07150573283433914,
    0.05372621864080429,   -0.03785562515258789,   0.0246503334492445,
    -0.015342818573117256, 0.009550793096423149,   -0.004903846886008978,
    0.0015790878096595407, -0.0009078975417651236, 0.000966898282058537,
    -0.0003618230111896992};

// erf(x) / x in x^2, |x| <= 1.
constexpr double nearF64[] = {
    1.1283791670955126,     -0.3761263890318375,     0.11283791670954858,
    -0.02686617064507296,   0.00522397762478137,     -0.0008548326978765149,
    0.00012055331037551108, -1.4925593518728226e-05, 1.6460972954153765e-06,
    -1.635002619207727e-07, 1.4657883530919653e-08,  -1.136567067182716e-09,
    5.945255584223488e-11,
};

// -log(erfc(x)) in x - 2 from 1 to 6.
constexpr double farF64[] = {
    5.364941264616638,       4.418160805994418,       0.9237508418238044,
    0.016465118136839055,    -0.0035707563461848703,  0.0007323993859852138,
    -0.00013530933435500136, 2.0706431674382842e-05,  -1.952195321883449e-06,
    -2.0364087229973786e-07, 1.7320770600348445e-07,  -5.7799086610880533e-08,
    1.394797257035727e-08,   -2.5376210485976614e-09, 2.7554341653364954e-10,
    4.2315018097456664e-11,  -3.7541332285803756e-11, 1.0292137827492634e-11,
    -1.06866525859903e-12,
};

// Few instructions, for it stands in most transformers, and one value beside
// the polynomial.
Real erfF32(Real x) {
  Real inside = atLeast(atMost(x, limitF32), -limitF32);
  Real place = inside * inside * (2.0 / (limitF32 * limitF32)) - 1.0;
  Real near = inside * polynomial(place, allF32);
  return select(abs(inside) >= limitF32, copySign(x.constant(1.0), inside),
                near);
}

Real erfF64(Real x) {
  Real magnitude = atMost(abs(x), 6.0); // erf rounds to 1 there
  Real near = magnitude * polynomial(magnitude * magnitude, nearF64);
  auto [n, r] = splitExponent(-polynomial(magnitude - 2.0, farF64));
  Real complement = expOfReduced(r) * powerOfTwo(n, x);
  return copySign(select(magnitude > 1.0, 1.0 - complement, near), x);
}

} // namespace

Real erf(Real x) { return x.isDouble() ? erfF64(x) : erfF32(x); }

} // namespace onnxc::elementary
