// erf x is an odd polynomial up to 1, then 1 - e^-g(x) with a polynomial g.
#include "lowering/loops/math/Functions.h"

namespace onnxc::elementary {
namespace {

// erf(x) / x in x^2, |x| <= 1.
constexpr double nearF32[] = {1.1283791065216064,   -0.3761262595653534,
                              0.1128358542919159,   -0.026853814721107483,
                              0.005188330542296171, -0.0008010202436707914,
                              7.853849820094183e-05};
constexpr double nearF64[] = {
    1.1283791670955126,     -0.3761263890318375,     0.11283791670954858,
    -0.02686617064507296,   0.00522397762478137,     -0.0008548326978765149,
    0.00012055331037551108, -1.4925593518728226e-05, 1.6460972954153765e-06,
    -1.635002619207727e-07, 1.4657883530919653e-08,  -1.136567067182716e-09,
    5.945255584223488e-11,
};

// -log(erfc(x)) in x from 1 to 4, and in x - 2 from 1 to 6.
constexpr double farF32[] = {0.0003327176673337817,  1.127122402191162,
                             0.6380937695503235,     0.10314779728651047,
                             -0.02185622602701187,   0.002951854607090354,
                             -0.00018677464686334133};
constexpr double farF64[] = {
    5.364941264616638,       4.418160805994418,       0.9237508418238044,
    0.016465118136839055,    -0.0035707563461848703,  0.0007323993859852138,
    -0.00013530933435500136, 2.0706431674382842e-05,  -1.952195321883449e-06,
    -2.0364087229973786e-07, 1.7320770600348445e-07,  -5.7799086610880533e-08,
    1.394797257035727e-08,   -2.5376210485976614e-09, 2.7554341653364954e-10,
    4.2315018097456664e-11,  -3.7541332285803756e-11, 1.0292137827492634e-11,
    -1.06866525859903e-12,
};

} // namespace

Real erf(Real x) {
  bool isDouble = x.isDouble();
  Real magnitude = atMost(abs(x), x.pick(4.0, 6.0)); // erf rounds to 1 there
  Real near = magnitude * polynomial(magnitude * magnitude,
                                     isDouble ? llvm::ArrayRef(nearF64)
                                              : llvm::ArrayRef(nearF32));
  Real far = isDouble ? polynomial(magnitude - 2.0, farF64)
                      : polynomial(magnitude, farF32);
  auto [n, r] = splitExponent(-far);
  Real complement = expOfReduced(r) * powerOfTwo(n, x);
  return copySign(select(magnitude > 1.0, 1.0 - complement, near), x);
}

} // namespace onnxc::elementary
